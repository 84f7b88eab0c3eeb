package throttle

import (
	"context"
	"math"
	"time"
)

// full refuses a call when as many wait as may.
func (l *lane) full(w *waiter) error {
	if l.cfg.maxQueue == 0 || l.waiting < l.cfg.maxQueue {
		return nil
	}
	return &LimitError{Key: l.key, Cause: CauseQueue, Err: ErrQueueFull, Header: l.header, Attempts: w.attempts}
}

// refuse is why w need not even wait: what it would wait for cannot come in time. r is what it waits for with nobody ahead.
func (l *lane) refuse(w *waiter, r ruling, now time.Time) error {
	if !r.ever {
		return l.limitError(w, r, now, ErrCostTooLarge)
	}
	if w.maxWait == NoWait {
		return l.limitError(w, r, now, ErrMaxWait)
	}
	if !r.at.Before(never) {
		return nil // an answer or a slot decides, and nobody knows when
	}
	if r.cause != CauseFirstContact && r.at.Sub(now) > l.cfg.maxHold {
		return l.limitError(w, r, now, ErrMaxHold)
	}
	r.at = latest(r.at, l.behind(w, now))
	if w.maxWait > 0 && r.at.Sub(now) > w.maxWait {
		return l.limitError(w, r, now, ErrMaxWait)
	}
	if !w.deadline.IsZero() && r.at.After(w.deadline) {
		return l.limitError(w, r, now, context.DeadlineExceeded)
	}
	return nil
}

// behind is the earliest moment at which w can leave behind those ahead of it, by the declared budgets alone: a lower bound.
func (l *lane) behind(w *waiter, now time.Time) (at time.Time) {
	for _, m := range w.class.meters {
		d, ok := m.(*declared)
		if !ok || d.mirror != nil {
			continue
		}
		ahead := 0.0
		for _, c := range l.order {
			if c.uses(&d.meterName) {
				ahead += c.queue.ahead(w.priority, d.unit)
			}
		}
		if w.queued() {
			ahead -= w.cost.of(d.unit)
		}
		if n := w.cost.of(d.unit); n > 0 && ahead > 0 {
			at = latest(at, now.Add(d.clears(now, ahead+n)))
		}
	}
	return at
}

// clears is how long it takes at least until n units can have left.
func (d *declared) clears(now time.Time, n float64) time.Duration {
	s := d.law.State(now)
	lacking := n - s.Available
	if lacking <= 0 {
		return 0
	}
	if !d.bucket { // each window brings its whole limit at once, the first one nobody knows when
		return time.Duration((math.Ceil(lacking/s.Limit) - 1) * float64(s.Window))
	}
	return time.Duration(lacking / s.Limit * float64(s.Window))
}

// sweep fails every waiter whose wait cannot come in time any more. It is called when a hold begins.
func (l *lane) sweep(now time.Time) {
	for _, c := range l.order {
		c.queue.each(func(w *waiter) bool {
			if err := l.refuse(w, l.rule(w, now), now); err != nil {
				l.fail(w, err)
			}
			return true
		})
	}
}

// limitError is the error that says what w would have waited for.
func (l *lane) limitError(w *waiter, r ruling, now time.Time, reason error) *LimitError {
	e := &LimitError{Key: l.key, Cause: r.cause, Err: reason, Header: l.header, Attempts: w.attempts}
	if r.by != nil {
		e.Budget = r.by.String()
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
		e.Cost, e.Limit = w.cost.of(r.by.unit), r.limit
	}
	return e
}
