package bank

import "time"

// relent finds a law when none is left, by giving up the least that helps: the estimate of the jitter, for a window that has proved itself;
// the limit of the law that has; the belief in the server's words; that the last streak of refusals was no outage; the estimate of the
// jitter, for any law; that windows have the edges they usually have. Else the server counts in another way than it did: the older half
// of the evidence goes. If that happens again and again, others draw on the same quota, and no counter over our own calls can explain
// anything.
func (b *Bank) relent(now instant) *belief {
	if b.lapses.habit(now, b.tape.upTo(b.tape.settled).sure) || b.words.deaf {
		return b.share(now)
	}
	if b.reconcile() || b.renew(now) && b.obeyed.living() {
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

// reconcile doubles the guard if that explains what killed a window that has proved itself: a call that overtook more than was thought possible
// is more likely than a limit that has changed by one.
func (b *Bank) reconcile() bool {
	l := b.obeyed
	if l == nil || !l.established || !l.windowed() || !b.strain() {
		return false
	}
	b.restart()
	if l.living() {
		return true
	}
	b.reflex.strained = false
	b.restart()
	return false
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
	if b.words.deaf || len(b.words.hints) == 0 {
		return false
	}
	b.words.deaf = true
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
