package bank

import "time"

// Others draw on the quota if the laws had to be given up so often in so short a time.
const (
	sharedAfter  = 3
	sharedWithin = 5 * time.Minute
	lapseCalls   = 32 // let in since the last time, or it is still the same trouble
)

// relent finds a law when none is left, by giving up the least that helps: the limit of the law that has proved itself; the belief in the
// server's words; that the last streak of refusals was no outage; the estimate of the jitter; that windows have the edges they usually
// have. Else the server counts in another way than it did: the older half of the evidence goes. If that happens again and again, others
// draw on the same quota, and no counter over our own calls can explain anything.
func (b *Bank) relent(now instant) *belief {
	if b.shared(now) {
		return b.share(now)
	}
	if b.renew(now) && b.obeyed.living() {
		return b.obeyed
	}
	for _, give := range []func() bool{b.deafen, b.forgive, b.strain, b.edge} {
		if give() {
			b.restart()
			if best := b.best(now); best != nil {
				return best
			}
		}
	}
	for {
		b.forget()
		if best := b.best(now); best != nil {
			return best
		}
	}
}

// killedWithin is how long ago a refusal may be that killed a law: a first hold, and a round trip.
const killedWithin = 3 * time.Second

// renew lets the law in force begin anew, if it has proved itself: the server may count as it did, but to another limit.
func (b *Bank) renew(now instant) bool {
	l := b.obeyed
	if l == nil || !l.established {
		return false
	}
	l.since = b.tape.next
	if now < b.refusedAt+killedWithin {
		l.since = b.outage.first
		if k, ok := l.law.(*leak); ok {
			k.halve()
		}
	}
	l.fresh()
	l.forget()
	b.rejudge([]*belief{l}, l.since)
	b.saved = nil
	b.ramp.restart()
	return true
}

// deafen stops believing what the server says about waits.
func (b *Bank) deafen() bool {
	if b.deaf || len(b.hints) == 0 {
		return false
	}
	b.deaf = true
	return true
}

// forgive excuses the last streak of refusals, if it was long enough for an outage and is not all that is known.
func (b *Bank) forgive() bool {
	o := &b.outage
	first := b.tape.index(o.last)
	if o.lasted < longStreak || b.tape.upTo(first).refused <= b.tape.upTo(b.oldest()).refused {
		return false
	}
	o.lasted = 0
	for i := first; i < len(b.tape.sends) && b.tape.sends[i].outcome != admitted; i++ {
		if b.tape.sends[i].outcome == refused {
			b.tape.sends[i].outcome = excused
		}
	}
	return true
}

// strain doubles the guard.
func (b *Bank) strain() bool {
	if b.reflex.strained {
		return false
	}
	b.reflex.strained = true
	return true
}

// forget drops the older half of the evidence.
func (b *Bank) forget() {
	b.since = b.tape.id((b.oldest() + b.tape.judged + 1) / 2)
	b.reflex.strained = false
	b.ramp.restart()
	for _, l := range b.laws {
		l.fresh()
	}
	b.restart()
}

// shared takes note that no law is left; it says whether that has become a habit.
func (b *Bank) shared(now instant) bool {
	calls := b.tape.upTo(b.tape.settled).sure
	if calls < b.lapsedAt+lapseCalls {
		return false
	}
	b.lapsedAt = calls
	b.lapses = append(b.lapses, now)
	if len(b.lapses) > sharedAfter {
		b.lapses = b.lapses[1:]
	}
	return len(b.lapses) == sharedAfter && now-b.lapses[0] < sharedWithin
}

// sharing is whether a share is in force.
func (b *Bank) sharing() bool {
	_, ok := b.law().(*share)
	return ok
}

// share obeys the law of last resort, from the rate at which calls were let in of late.
func (b *Bank) share(now instant) *belief {
	s := b.scene(now, 0)
	h := &share{rate: max(shareCut*s.pace(time.Minute), shareCut*s.pace(5*time.Minute), leastShare), grown: now, cut: now}
	h.pacer.empty(now, b.tape.next)
	b.begin()
	return &belief{law: h}
}

// A law is obeyed instead of a share when it has lived through so many refusals and promises clearly more.
const (
	supported = 8
	better    = 1.2
)

// unshare looks for a law that explains what happened since the last one died, while a share is obeyed.
func (b *Bank) unshare(h *share, now instant) {
	best := b.best(now)
	if best == nil {
		b.begin()
		return
	}
	t, s := &b.tape, b.scene(now, 0)
	refusals := t.upTo(t.judged).refused - t.upTo(b.oldest()).refused
	if refusals >= supported && best.promise(&s) > better*h.rate {
		b.obey(best, now)
	}
}

// begin drops all evidence.
func (b *Bank) begin() {
	b.since = b.tape.id(b.tape.judged)
	for _, l := range b.laws {
		l.fresh()
	}
	b.restart()
}
