package throttle

import "time"

// lookPast is how many waiters behind one that waits for units are looked at for a smaller call: enough to find one in a mixed queue, few
// enough that a queue of equals costs nothing.
const lookPast = 8

// claim is a budget that the head of a class waits for: who comes later may take from it only as a small call passing a big one.
type claim struct {
	by   *meterName
	head *waiter
}

// pump admits everybody who may go now, and sets the timer for whoever is next. l.mu must be held.
func (l *lane) pump(now time.Time) {
	l.dispatch(now)
	for l.intake.crowd.Load() == nil && l.takeIn(now) { // it has just been shut, and nobody else will look
		l.dispatch(now)
	}
}

// dispatch is pump for those who stand in the queue.
func (l *lane) dispatch(now time.Time) {
	due := l.due(now)
	for l.waiting > 0 {
		w, r, next := l.pick(now)
		if w == nil {
			l.arm(now, next)
			return
		}
		if !r.ever {
			l.fail(w, l.limitError(w, &r, now, r.reason()), now)
			continue
		}
		if !l.all.take(l) {
			w.waitsFor(&ruling{cause: CauseInFlight})
			l.disarm() // parked: a slot that comes back pumps again
			return
		}
		l.overtake(w)
		l.drop(w)
		r.at = latest(r.at, due)
		l.spend(w, &r, now)
		w.ready <- struct{}{}
	}
	l.disarm()
}

// due is since when it has been possible that somebody may go: the timer may be late.
func (l *lane) due(now time.Time) time.Time {
	if !l.alarm.IsZero() && l.alarm.Before(now) {
		return l.alarm
	}
	return now
}

// idleUntilAlarm reports whether w, which has just come, stands so far back that it changes nothing before the timer fires.
func (l *lane) idleUntilAlarm(w *waiter, now time.Time) bool {
	return l.alarm.After(now) && !w.class.queue.near(w)
}

// fail ends the waiting of w with an error.
func (l *lane) fail(w *waiter, err error, now time.Time) {
	l.drop(w)
	w.err, w.held = err, l.heldOf(w, now)
	w.ready <- struct{}{}
}

// pick is the next call to leave at now, or when to look again. A ruling with ever false is one to fail.
func (l *lane) pick(now time.Time) (w *waiter, r ruling, next time.Time) {
	l.claims = l.claims[:0]
	next = never
	for _, c := range l.byHead() {
		w, r = l.pickFrom(c, now)
		if w != nil {
			return w, r, now
		}
		if r.at.Before(next) {
			next = r.at
		}
	}
	return nil, ruling{}, next
}

// byHead is the classes that have waiters, in the order of their heads.
func (l *lane) byHead() []*class {
	if len(l.order) == 1 {
		return l.order
	}
	heads := l.heads[:0]
	for _, c := range l.order {
		w := c.queue.head()
		if w == nil {
			continue
		}
		i := len(heads)
		heads = append(heads, c)
		for ; i > 0 && w.before(heads[i-1].queue.head()); i-- {
			heads[i] = heads[i-1]
		}
		heads[i] = c
	}
	l.heads = heads
	return heads
}

// pickFrom is who may leave first from a class, or nobody and until when.
func (l *lane) pickFrom(c *class, now time.Time) (*waiter, ruling) {
	head := c.queue.head()
	r := l.rule(head, now)
	if r.cause == CauseBudget && l.open == 0 && l.tooFar(&r, now) {
		r.ever, r.err = false, ErrMaxHold // it came while there was something left, nobody can give any back, and tomorrow is far
	}
	if !r.ever {
		return head, r
	}
	if !r.at.After(now) {
		if l.mayTake(head) {
			return head, r
		}
		return nil, ruling{at: never} // whoever claimed the budget sets the timer
	}
	head.waitsFor(&r)
	if r.cause != CauseBudget {
		return nil, r
	}
	l.claims = append(l.claims, claim{r.by, head})
	return l.pickPast(head, r, now)
}

// pickPast finds a small call that may pass the head of its class, or when to look again; r is what the head waits for.
func (l *lane) pickPast(head *waiter, r ruling, now time.Time) (*waiter, ruling) {
	w := head.next
	for i := 0; i < lookPast && w != nil; i, w = i+1, w.next {
		if !l.mayTake(w) {
			continue
		}
		passing := l.rule(w, now)
		if passing.ever && !passing.at.After(now) {
			return w, passing
		}
		if passing.ever && passing.at.Before(r.at) {
			r.at = passing.at
		}
	}
	return nil, r
}

// mayTake reports whether w takes from no budget that somebody ahead waits for, or passes them as a small call may: all that pass a
// waiter take no more than it wants itself, so it leaves after at most twice its time.
func (l *lane) mayTake(w *waiter) bool {
	for _, c := range l.claims {
		part := w.partOf(c)
		if part > 0 && !(part < 1 && c.head.passed+part <= 1) {
			return false
		}
	}
	return true
}

// overtake notes with everybody ahead that w passes them.
func (l *lane) overtake(w *waiter) {
	for _, c := range l.claims {
		c.head.passed += w.partOf(c)
	}
}

// partOf is what w takes from a budget, as a part of what somebody wants who waits for that.
func (w *waiter) partOf(c claim) float64 {
	n := w.cost.of(c.by.unit)
	switch {
	case w == c.head || !w.class.uses(c.by):
		return 0
	case c.by.source == SourceShared:
		return 1 // whose units are not told apart
	case n == 0:
		return 0
	}
	return n / c.head.cost.of(c.by.unit)
}

// kick looks again who may go, as a store has news.
func (l *lane) kick() {
	now := time.Now()
	l.lock()
	l.eachAccount(func(s *shared) {
		if s.account.Resumed().After(l.hold.since) {
			l.hold.release(now)
		}
	})
	l.pump(now)
	l.mu.Unlock()
}

// arm sets the timer. The one timer of the lane serves whoever is next.
func (l *lane) arm(now, at time.Time) {
	if at.Equal(l.alarm) && at.After(now) {
		return
	}
	if !at.Before(never) {
		l.disarm()
		return
	}
	l.alarm = at
	d := at.Sub(now)
	l.intake.due.Store(int64(at.Sub(l.born)))
	if d <= soon {
		l.intake.crowd.Store(l.crowd())
	} else {
		l.intake.crowd.Store(nil)
	}
	if l.timer == nil {
		l.timer = time.AfterFunc(d, l.tick)
	} else {
		l.timer.Reset(d)
	}
}

func (l *lane) disarm() {
	l.intake.crowd.Store(nil)
	if !l.alarm.IsZero() {
		l.alarm = time.Time{}
		l.timer.Stop()
	}
}

func (l *lane) tick() {
	l.lock()
	l.pump(time.Now())
	l.mu.Unlock()
}
