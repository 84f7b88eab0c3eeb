package throttle

import (
	"net/http"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
)

// answer is what one attempt brought, as the lane needs it.
type answer struct {
	sent, received time.Time
	braced         bool // the lane was told that a refusal is being read
	kind           outcomeKind
	status         int
	report         *headers.Report
	header         http.Header
}

// lesson is what an answer changed.
type lesson struct {
	held time.Duration // a hold began, or became longer, by this
	news bool          // a budget came, went, or has a new limit
}

// braceTime bounds the time for which a lane is braced, should learn never come. It is longer than the peek, whose end must not be overtaken.
const braceTime = 2 * peekTime

// brace lets nobody leave while the body of a refusal is read: only then it is known how long the hold is, or that there is none.
func (l *lane) brace(now time.Time) {
	l.lock()
	l.braced = now.Add(braceTime)
	l.mu.Unlock()
}

// learn takes an answer into account, and looks who may go now.
func (l *lane) learn(w *waiter, a *answer) (learned lesson) {
	l.lock()
	defer l.mu.Unlock()
	now := a.received
	l.net.learn(a.received.Sub(a.sent))
	l.lastUse = now
	if a.braced {
		l.braced = time.Time{}
	}
	if !l.answered {
		l.answered = true
		l.count()
	}
	l.gate.answered(w.ticket)
	l.answer(w.ticket)
	learned.news = l.read(w, a)
	l.watch(w, a)
	l.testify(w, a)
	if a.kind == refused {
		l.header = a.header.Clone() // the answer is the caller's, who may change it while others look at this
		learned.held = l.refusal(w, a)
	}
	switch {
	case a.kind == failed && down(a.status):
		learned.held = l.suffer(w.ticket, now)
	case a.kind == final:
		l.outage = outage{}
	}
	l.gauge(w, a)
	if l.waiting > 0 {
		l.pump(time.Now()) // reading the answer may have taken a while
	}
	return learned
}

// refusal holds the lane, unless the answer tells nothing new: budgets that explain it stop the others already, and a call that was sent
// before the present hold began was refused for the same reason. Where no time is named, the bank of laws knows whether to hold, and where
// limits are believed, several refusals in a row are an outage like any other.
func (l *lane) refusal(w *waiter, a *answer) time.Duration {
	now := a.received
	if w.generation != l.hold.generation || !a.report.RetryAfter.Known && l.explained(w, now) && !w.blindTo(a.report) {
		return 0
	}
	until := now
	if wait := a.report.Wait(); wait.Known {
		until = now.Add(max(wait.Value, l.cfg.backoff.Delay(1)) + spread(wait.Value))
	} else if l.bank != nil {
		until, _ = l.bank.Hold(now)
	} else {
		until = now.Add(l.outage.failed(now))
	}
	if !l.hold.extend(now, until, CauseHold) {
		return 0
	}
	for _, s := range w.class.shared {
		s.account.Hold(until)
	}
	l.gate.close()
	l.sweep(time.Now())
	return until.Sub(now)
}

// blindTo reports whether a quota is used up whose unit is not part of what w is known to cost, such as tokens nobody has estimated: what
// it takes of that no budget can tell.
func (w *waiter) blindTo(r *headers.Report) bool {
	for _, q := range r.Quotas {
		if q.Remaining == headers.Some(0.0) && q.Reset.Known && w.cost.of(q.Unit) == 0 {
			return true
		}
	}
	return false
}

// leave gives back the slot of a call whose answer has ended.
func (l *lane) leave(t *ticket) {
	l.lock()
	if t.flight == nil {
		l.mu.Unlock()
		return
	}
	untold := t.mute && len(l.mirrors) > 0 // no answer has told, or will tell, that it is under way no longer
	if untold {
		l.lostAnswer(t, time.Now())
	}
	l.land(t)
	if l.waiting > 0 {
		if now := time.Now(); untold || l.counts(now) {
			l.pump(now)
		}
	}
	l.mu.Unlock()
	l.all.give()
}

// counts reports whether it makes a difference to those who wait how many calls are under way. Mostly they wait for a time, and the timer
// is set.
func (l *lane) counts(now time.Time) bool {
	timed := l.alarm.After(now) && (l.open > 0 || l.alarm.Sub(now) <= l.cfg.maxHold)
	return !timed || l.bank != nil || l.foresees || l.places.Load() > 0
}

// lose gives back the slot of a call that brought no answer, and its units too if nothing reached the server. A broken one may mean
// that the server is down; the hold that follows is returned.
func (l *lane) lose(t *ticket, unsent, broken bool) (held time.Duration) {
	l.lock()
	now := time.Now()
	if unsent {
		l.undo(t, now)
	} else {
		l.lostAnswer(t, now)
		l.land(t)
		l.disappear(t, now)
	}
	if broken {
		held = l.suffer(t, now)
	}
	l.ample.Store(0) // an answer counts again, be it only as one
	l.pump(now)
	l.mu.Unlock()
	l.all.give()
	return held
}

// answer notes that the answer of a call has come, or never will; or that a permit is out of hand.
func (l *lane) answer(t *ticket) {
	if t.open {
		t.open = false
		l.open--
		if t.mute {
			l.permits--
		}
	}
}

// land takes a call out of those in flight.
func (l *lane) land(t *ticket) {
	l.answer(t)
	l.flights.end(t.flight)
	t.flight = nil
}

// settle replaces the estimated cost of a call by the actual one, once.
func (l *lane) settle(x *exchange, actual budget.Cost) bool {
	l.lock()
	defer l.mu.Unlock()
	now := time.Now()
	t := &x.ticket
	if x.settled || t.class == nil {
		return false
	}
	x.settled = true
	for m := range l.taken(t) {
		unit := m.what().unit
		if n, ok := actual[unit]; ok {
			if back := t.cost.of(unit) - n; t.open { // a permit, which is under way until it is done
				m.amend(t.left, now, back)
			} else {
				m.give(t.left, now, back)
			}
			m.what().settled(t.cost.of(unit), n)
			if d, ok := m.(*declared); ok {
				d.foresee(t.left, now, n)
			}
		}
	}
	for _, m := range l.mirrors {
		if n, ok := actual[m.unit]; ok && m.covers(t.class) {
			m.foresee(t.left, now, n)
		}
	}
	for _, a := range t.class.shared {
		a.account.Give(now, t.cost.less(actual))
	}
	t.cost = t.cost.settled(actual)
	l.pump(now)
	return true
}

// reprice replaces the cost of a call that has been admitted and is not sent yet.
func (l *lane) reprice(t *ticket, c cost) {
	l.lock()
	defer l.mu.Unlock()
	now := time.Now()
	for m := range l.taken(t) {
		unit := m.what().unit
		if n := t.cost.of(unit) - c.of(unit); n != 0 {
			m.amend(t.left, now, n)
		}
	}
	for _, a := range t.class.shared {
		a.account.Give(now, t.cost.saved(c))
	}
	t.cost = c
	l.pump(now)
}

// ask is why w could not wait for another attempt; nil = it can.
func (l *lane) ask(w *waiter) error {
	l.lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.gone {
		return nil // its successor will be asked
	}
	r := l.rule(w, now)
	r.at = latest(r.at, now)
	return l.refuse(w, &r, now)
}
