package throttle

import (
	"sync/atomic"
	"time"
)

// intake is where newcomers stand who find a crowd before them, until somebody who has the lane's mutex anyway queues them. When a hundred thousand
// goroutines begin at once, the lane would else be theirs: whoever is put off while it holds the mutex keeps the timer waiting too. The zero value
// is shut.
type intake struct {
	crowd  atomic.Pointer[class] // whose newcomers may stand here, for the timer is about to look; nil = shut; it changes under the lane's mutex
	due    atomic.Int64          // when the timer does, since the lane was born; likewise
	newest atomic.Pointer[waiter]
}

const (
	// throng is how many must wait for a newcomer not to matter before the timer fires.
	throng = 64
	// soon is how long a newcomer may stand unnoticed.
	soon = 10 * time.Millisecond
)

// stand adds a newcomer.
func (q *intake) stand(w *waiter) {
	for {
		w.next = q.newest.Load()
		if q.newest.CompareAndSwap(w.next, w) {
			return
		}
	}
}

// take is all who stand there, linked in the order in which they came.
func (q *intake) take() (oldest *waiter) {
	if q.newest.Load() == nil {
		return nil // almost always
	}
	for w := q.newest.Swap(nil); w != nil; {
		w, w.next, oldest = w.next, oldest, w
	}
	return oldest
}

// plain reports whether a newcomer asks for nothing that others do not ask for too: nothing that it could be refused for, or that lets it pass them.
func (w *waiter) plain() bool {
	return w.maxWait == 0 && w.deadline.IsZero() && w.priority == 0 && !w.again && !w.bypass && w.cost.requests == 1 && w.cost.others == nil
}

// crowd is the class in which most wait, if they are so many that a plain newcomer changes nothing before the timer fires; nil = there is none. Newcomers
// of another class may go at once. Where the server has resources of its own, only who has the mutex knows who belongs where.
func (l *lane) crowd() (most *class) {
	if l.waiting < throng || l.cfg.maxQueue > 0 || l.resources.byPath != nil {
		return nil
	}
	least := throng
	for _, c := range l.order {
		if n := c.queue.from(0); n >= least {
			most, least = c, n
		}
	}
	return most
}

// joins lets a plain newcomer join a crowd without the mutex, and reports whether it did.
func (l *lane) joins(w *waiter) bool {
	if c := l.intake.crowd.Load(); c == nil || c.id.routes != w.routes || !w.plain() {
		return false
	}
	w.ready, w.start = newReady(), time.Now()
	l.intake.stand(w)
	switch {
	case l.intake.crowd.Load() == nil: // perhaps the last look was before
		l.lock()
	case w.start.Sub(l.born) < time.Duration(l.intake.due.Load()) || !l.mu.TryLock():
		return true
	default: // the timer is late
		l.takeIn(w.start)
	}
	l.pump(time.Now())
	l.mu.Unlock()
	return true
}

// lock takes the mutex, and queues who has come without it.
func (l *lane) lock() {
	l.mu.Lock()
	if l.intake.newest.Load() != nil {
		l.takeIn(time.Now())
	}
}

// takeIn queues the newcomers, and reports whether there were any. They are all plain, so what one of a class waits for all do: where thousands come
// at once, the lane is not held longer than it takes to link them. Who has been told is somebody else's already.
func (l *lane) takeIn(now time.Time) bool {
	w := l.intake.take()
	if w == nil {
		return false
	}
	l.lastUse = now
	var of *class // whose first newcomer has been looked at
	var cause Cause
	var by string
	var err error
	for w != nil {
		next := w.next
		w.next = nil
		if l.queueUp(w) {
			if w.class != of {
				err = l.review(w, now)
				of, cause, by = w.class, w.cause, w.by
			}
			w.cause, w.by = cause, by
			if err != nil {
				l.fail(w, err, now)
			}
		}
		w = next
	}
	return true
}

// queueUp queues a newcomer, or tells it why not.
func (l *lane) queueUp(w *waiter) bool {
	if l.gone {
		w.err = errGone
	} else {
		w.class, w.err = l.classOf(w)
	}
	if w.err != nil {
		w.ready <- struct{}{}
		return false
	}
	w.heldAt = l.hold.clock(w.start)
	l.push(w)
	return true
}
