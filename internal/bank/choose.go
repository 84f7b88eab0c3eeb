package bank

// choose obeys the living law that promises most; of two that promise the same, the one that opens first.
func (b *Bank) choose(now instant) {
	b.surprise()
	if b.surprising(now) {
		b.doubt(now)
		return
	}
	best := b.best(now)
	for best == nil {
		b.relent(now)
		best = b.best(now)
	}
	if best != b.obeyed || !b.asking(now) {
		best.right = 0
	}
	b.obeyed = best
	b.trial.boundary = true
}

// reconsider looks whether another law promises clearly more by now: as evidence comes in, a range of rates moves up. It looks when the
// law in force was right 1, 2, 4 … 64 times, and every 64 times after that.
func (b *Bank) reconsider(now instant) {
	const often, clearly = 64, 1.1
	n := b.obeyed.right
	if n&(n-1) != 0 && n%often != 0 || !b.obeyed.alive() {
		return
	}
	if _, ok := b.obeyed.law.(*flight); ok && n >= proofs {
		return
	}
	s := b.scene(now, 0)
	if best := b.best(now); best != b.obeyed && best.promise(&s) > clearly*b.obeyed.promise(&s) {
		best.right = 0
		b.obeyed = best
		b.trial.boundary = true
	}
}

// surprising is whether the first refusal of a streak killed a law that had proved itself, or the only one that had ever been right.
func (b *Bank) surprising(now instant) bool {
	o := &b.outage
	if o.streak != 1 || o.doubt || b.obeyed == nil || b.obeyed.alive() {
		return false
	}
	return o.right >= proofs || o.right > 0 && b.best(now) == nil
}

// disputed is whether a living law would still keep calls waiting that the law in force lets go. One call decides between the two.
func (b *Bank) disputed(s *scene) bool {
	if !b.obeyed.windowed() {
		return false
	}
	for _, l := range b.laws {
		if l != b.obeyed && l.windowed() && !l.discredited && l.alive() && l.at(s) > s.now {
			return true
		}
	}
	return false
}

func (b *Bank) best(now instant) (best *belief) {
	s := b.scene(now, 0)
	var promise float64
	var opens instant
	for _, l := range b.laws {
		if l.discredited || !l.alive() {
			continue
		}
		p := l.promise(&s)
		if best != nil && p < promise {
			continue
		}
		if at := l.at(&s); best == nil || p > promise || at < opens {
			best, promise, opens = l, p, at
		}
	}
	return best
}

// relent makes room for a law when none is left, by the least that does: the server's words are not believed any more; the last streak
// of refusals was an outage; the jitter is twice what it seemed; there are windows with an edge where refusals ended. Else the server
// counts in another way than it did, or others draw on the same quota: the older half of the evidence is dropped.
func (b *Bank) relent(now instant) {
	for _, excuse := range []func() bool{b.deafen, b.forgive, b.strain, b.edge} {
		if excuse() {
			b.restart()
			if b.best(now) != nil {
				return
			}
		}
	}
	b.since = (b.since + b.tape.judged + 1) / 2
	b.reflex.strained = false
	b.ramp.restart()
	for _, l := range b.laws {
		l.right, l.surprises, l.discredited = 0, 0, false
	}
	b.restart()
}

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
	if o.lasted < longStreak {
		return false
	}
	first := b.tape.index(o.last)
	known := b.tape.upTo(first).refused > b.tape.upTo(b.since).refused
	if first < b.since || !known {
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

func (b *Bank) strain() bool {
	if b.reflex.strained {
		return false
	}
	b.reflex.strained = true
	return true
}

func (b *Bank) scene(now instant, inFlight int) scene {
	return scene{tape: &b.tape, now: now, inFlight: inFlight, guard: b.guard(), latency: b.net.Latency}
}
