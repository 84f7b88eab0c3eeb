package bank

// choose obeys the living law that promises most; of two that promise the same, the one that opens first.
func (b *Bank) choose(now instant) {
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

// relent makes room for a law when none is left. Perhaps the jitter is worse than it seemed: then twice the guard lets a law live.
// Otherwise the server counts in another way than it did, or others draw on the same quota: the older half of the evidence is dropped.
func (b *Bank) relent(now instant) {
	if debugForget != nil {
		debugForget(b)
	}
	if len(b.hints) > 0 && !b.deaf {
		b.deaf = true
		b.restart()
		if b.best(now) != nil {
			return
		}
	}
	b.reflex.strain++
	b.restart()
	if b.best(now) != nil {
		return
	}
	b.reflex.strain--
	if b.edge() {
		b.restart()
		if b.best(now) != nil {
			return
		}
	}
	b.since = (b.since + b.tape.judged + 1) / 2
	for _, l := range b.laws {
		l.right, l.surprises, l.discredited = 0, 0, false
	}
	b.restart()
}

var debugForget func(*Bank)

func (b *Bank) scene(now instant, inFlight int) scene {
	return scene{tape: &b.tape, now: now, inFlight: inFlight, guard: b.guard(), latency: b.net.Latency}
}
