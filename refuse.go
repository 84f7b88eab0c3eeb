package throttle

import (
	"context"
	"math"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// full refuses a newcomer when as many others wait as may. A call that was sent before is not refused for that: it has had its place.
func (l *lane) full(w *waiter) error {
	if l.cfg.maxQueue == 0 || l.waiting <= l.cfg.maxQueue || w.again {
		return nil
	}
	return &LimitError{Key: l.key, Cause: CauseQueue, Err: ErrQueueFull, Header: l.header, Attempts: w.attempts}
}

// refuse is why a call that comes need not wait: what it would wait for cannot come in time. r is what it waits for with nobody ahead.
func (l *lane) refuse(w *waiter, r *ruling, now time.Time) error {
	if err := l.hopeless(w, r, now); err != nil {
		return err
	}
	if w.maxWait == NoWait {
		return l.limitError(w, r, now, ErrMaxWait)
	}
	if !r.at.Before(never) || w.maxWait == 0 && w.deadline.IsZero() {
		return nil
	}
	return l.tooLateBehind(w, *r, now)
}

// tooLateBehind is which bound of its own w would miss behind those ahead of it. Like all that needs much of the stack it stands apart from the way of a
// crowd.
func (l *lane) tooLateBehind(w *waiter, r ruling, now time.Time) error {
	if at := l.behind(w, now); r.guessed || at.After(r.at) {
		r.at, r.guessed = at, false
		return l.tooLate(w, &r, now)
	}
	return nil
}

// ourMargin is the most that a wait is lengthened by here, for the network's jitter and to spread the processes: a wait of exactly the
// max hold is not above it for that.
const ourMargin = guardMax + spreadMost

// hopeless is why w cannot leave in time, if r is the least that it has to wait for.
func (l *lane) hopeless(w *waiter, r *ruling, now time.Time) error {
	switch {
	case !r.ever:
		return l.limitError(w, r, now, r.reason())
	case !r.at.Before(never):
		return nil // an answer or a slot decides, and nobody knows when
	case l.tooFar(r, now):
		return l.limitError(w, r, now, ErrMaxHold)
	}
	return l.tooLate(w, r, now)
}

// tooFar reports whether what a call waits for with nobody ahead of it comes later than any call is to wait.
func (l *lane) tooFar(r *ruling, now time.Time) bool {
	return r.ever && !r.guessed && r.at.Before(never) && r.at.Sub(now) > l.cfg.maxHold+ourMargin
}

// tooLate is which bound of its own w would miss if it left at r.at.
func (l *lane) tooLate(w *waiter, r *ruling, now time.Time) error {
	if r.guessed {
		return nil
	}
	since := now
	if w.queued() {
		since = w.start
	}
	switch {
	case w.maxWait > 0 && r.at.Sub(since) > w.maxWait:
		return l.limitError(w, r, now, ErrMaxWait)
	case !w.deadline.IsZero() && r.at.After(w.deadline):
		return l.limitError(w, r, now, context.DeadlineExceeded)
	}
	return nil
}

// behind is the earliest moment at which w can leave behind those ahead of it, by the declared budgets alone: a lower bound.
func (l *lane) behind(w *waiter, now time.Time) (at time.Time) {
	for _, m := range w.class.meters {
		d, ok := m.(*declared)
		n := w.cost.of(m.what().unit)
		if !ok || d.mirror != nil || n == 0 {
			continue
		}
		for _, c := range l.order {
			if c.uses(&d.meterName) {
				n += c.queue.ahead(w, d.unit)
			}
		}
		if w.queued() {
			n -= w.cost.of(d.unit)
		}
		at = latest(at, d.clears(now, n))
	}
	return at
}

// clears is the earliest moment at which the last of n units can leave.
func (d *declared) clears(now time.Time, n float64) time.Time {
	if d.bucket {
		s := d.law.State(now)
		return now.Add(time.Duration((n - s.Available) / s.Limit * float64(s.Window)))
	}
	// What exceeds the limit follows a whole window later at the earliest in a log, and in windows at the next edge.
	windows := math.Ceil(n/d.ours.Limit) - 1
	at, _ := d.law.At(now, n-windows*d.ours.Limit)
	if windows > 0 && d.ours.Algorithm != budget.SlidingLog {
		windows--
	}
	return latest(at, now).Add(time.Duration(windows * float64(d.ours.Window)))
}

// sweep fails every waiter that cannot leave in time any more, even with nobody ahead. It is called when a hold begins.
func (l *lane) sweep(now time.Time) {
	for _, c := range l.order {
		c.queue.each(func(w *waiter) {
			r := l.rule(w, now)
			if err := l.hopeless(w, &r, now); err != nil {
				l.fail(w, err, now)
			}
		})
	}
}

// limitError is the error that says what w would have waited for.
func (l *lane) limitError(w *waiter, r *ruling, now time.Time, reason error) *LimitError {
	cause, by := r.cause, r.by
	if !r.at.After(now) && r.ever {
		cause, by = CauseQueue, nil // nothing but the others
	}
	e := &LimitError{Key: l.key, Cause: cause, Err: reason, Header: l.header, Attempts: w.attempts}
	if by != nil {
		e.Budget = by.String()
	}
	if r.at.Before(never) && r.at.After(now) {
		e.Wait, e.Until = r.at.Sub(now), r.at
	}
	switch reason {
	case ErrMaxWait:
		e.Cap = max(w.maxWait, 0)
	case ErrMaxHold:
		e.Cap = l.cfg.maxHold
	case ErrCostTooLarge:
		e.Cost, e.Limit = w.cost.of(by.unit), w.class.most(by, now)
	}
	return e
}

// most is the most that a budget can ever hold; 0 = unknown.
func (c *class) most(name *meterName, now time.Time) float64 {
	for _, m := range c.meters {
		d, ok := m.(*declared)
		switch {
		case m.what() != name:
		case ok && d.ours.Algorithm == budget.TokenBucket:
			return d.ours.Burst
		default:
			return m.state(now).Limit
		}
	}
	return 0
}
