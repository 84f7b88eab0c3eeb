package throttle

import "time"

// ruling is what the lane says of one call at one moment.
type ruling struct {
	at      time.Time // when it may leave; never when only an answer or a slot can tell
	by      *meterName
	cause   Cause
	guessed bool // it may leave earlier than at
	alone   bool // it must cross the gate alone
	ever    bool // false: a budget can never hold its cost, or err says why
	err     error
}

// reason is why it may never leave.
func (r *ruling) reason() error {
	if r.err != nil {
		return r.err
	}
	return ErrCostTooLarge
}

// delay takes a later moment into account.
func (r *ruling) delay(at time.Time, cause Cause, by *meterName) {
	if at.After(r.at) {
		r.at, r.cause, r.by, r.guessed = at, cause, by, false
	}
}

// guess is delay to a moment that is no lower bound: nobody is refused for it.
func (r *ruling) guess(at time.Time, cause Cause, by *meterName) {
	if at.After(r.at) {
		r.delay(at, cause, by)
		r.guessed = true
	}
}

// rule says when w may leave if nobody is ahead of it.
func (l *lane) rule(w *waiter, now time.Time) ruling {
	r := ruling{ever: true}
	l.judge(&r, w, now)
	return r
}

// judge is rule into r, which says that w may leave at once: the way of every call has no copies to spare.
func (l *lane) judge(r *ruling, w *waiter, now time.Time) {
	for _, m := range w.class.meters {
		name := m.what()
		n := w.cost.of(name.unit)
		if n == 0 {
			continue
		}
		waiting := n
		if l.waiting > 0 {
			waiting = l.wanted(w, name.unit)
		}
		at, alone, ever := m.ready(now, n, waiting)
		if !ever {
			*r = ruling{by: name, cause: CauseBudget}
			return
		}
		r.alone = r.alone || alone
		r.delay(at, CauseBudget, name)
		if l.foresees {
			r.guess(m.foreseen(now, n), CauseBudget, name)
		}
	}
	for _, s := range w.class.shared {
		if s.ask(r, now, w.cost, l.wantedCost(w)); !r.ever {
			return
		}
	}
	if l.hold.active(now) {
		r.delay(l.hold.until, l.hold.cause, nil)
	}
	if now.Before(l.braced) {
		r.guess(l.braced, CauseHold, nil)
	}
	if until, shut := l.gate.shut(now); shut {
		r.guess(until, CauseFirstContact, nil)
	}
	if places := int(l.places.Load()); places > 0 && l.flights.len >= places {
		r.delay(never, CauseInFlight, nil)
	}
	r.alone = r.alone || l.gate.state == due
	if l.blind(w) && !r.at.After(now) {
		l.probe(r, now)
	}
}

// wanted is what all calls that wait want of a unit, w included.
func (l *lane) wanted(w *waiter, unit string) float64 {
	var units float64
	if l.waiting > 0 {
		for _, c := range l.order {
			units += c.queue.total(unit)
		}
	}
	if !w.queued() {
		units += w.cost.of(unit)
	}
	return units
}
