package bank

import "math"

// choose obeys the living law that promises most; of two that promise the same, the one that opens first.
func (b *Bank) choose(now instant) {
	b.surprise()
	if b.chance && !b.sharing() {
		b.outage.over()
		b.obey(b.share(now), now)
		return
	}
	if b.surprising(now) {
		b.doubt(now)
		return
	}
	if h, ok := b.law().(*share); ok {
		b.unshare(h, now)
		return
	}
	best := b.best(now)
	if best == nil {
		best = b.relent(now)
	}
	if best != b.obeyed {
		b.outage.right = 0 // a new law was never right: what it meets is its own fault
	}
	if best != b.obeyed || !b.asking(now) {
		best.right = 0
	}
	b.obey(best, now)
}

// obey puts a law in force. A law that forbids nothing, since nothing was turned away that counts, is none.
func (b *Bank) obey(l *belief, now instant) {
	s := b.scene(now, 0)
	b.obeyed = l
	b.trial.boundary, b.trial.since, b.trial.asks = true, 0, false
	if math.IsInf(l.promise(s), 1) {
		b.obeyed, b.trial.boundary = nil, false
	}
}

// law is the law in force, nil if none is.
func (b *Bank) law() law {
	if b.obeyed == nil {
		return nil
	}
	return b.obeyed.law
}

// best is the living law that promises most.
func (b *Bank) best(now instant) (best *belief) {
	s := b.scene(now, 0)
	var promise float64
	var opens instant
	for _, l := range b.laws {
		if !l.living() {
			continue
		}
		p := l.promise(s)
		if best != nil && p < promise {
			continue
		}
		if at := l.at(s); best == nil || p > promise || at < opens {
			best, promise, opens = l, p, at
		}
	}
	return best
}

// reconsider looks whether another law promises clearly more by now: as evidence comes in, a range of rates moves up. It looks when the
// law in force was right 1, 2, 4 … 64 times, and every 64 times after that. A cap on calls in flight is kept as long as it lives.
func (b *Bank) reconsider(now instant) {
	const often, clearly = 64, 1.1
	n := b.obeyed.right
	if n&(n-1) != 0 && n%often != 0 || !b.obeyed.alive() {
		return
	}
	switch b.obeyed.law.(type) {
	case *flight:
		if n >= proofs {
			return
		}
	case *share:
		return
	}
	s := b.scene(now, 0)
	if best := b.best(now); best != nil && best != b.obeyed && best.promise(s) > clearly*b.obeyed.promise(s) {
		best.right = 0
		b.obey(best, now)
	}
}

// disputed is whether a living law would still keep calls waiting that the law in force lets go. One call decides between the two.
func (b *Bank) disputed(s *scene) bool {
	if !b.obeyed.windowed() {
		return false
	}
	for _, l := range b.laws {
		if l != b.obeyed && l.windowed() && l.living() && l.at(s) > s.now {
			return true
		}
	}
	return false
}

// agreed is whether all living laws let a call go, and the one in force is a dear log that was right once: then nothing is learned by a slow start.
func (b *Bank) agreed(now instant, inFlight int) bool {
	if log, ok := b.law().(*slidingLog); !ok || !log.dear() || b.obeyed.right == 0 {
		return false
	}
	s := b.scene(now, inFlight)
	for _, l := range b.laws {
		if l != b.obeyed && l.living() && l.at(s) > s.now {
			return false
		}
	}
	return true
}

// scene is the present. It is the same one each time, so that none goes to the heap.
func (b *Bank) scene(now instant, inFlight int) *scene {
	b.present = scene{tape: &b.tape, now: now, inFlight: inFlight, guard: b.guard(), latency: b.net.Latency}
	return &b.present
}
