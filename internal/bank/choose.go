package bank

// choose obeys the living law that promises most; of two that promise the same, the one that opens first.
func (b *Bank) choose(now instant) {
	b.focus()
	best := b.best(now)
	for best == nil {
		b.forget()
		best = b.best(now)
	}
	if best != b.obeyed || !b.asking(now) {
		best.right = 0
	}
	b.obeyed = best
	b.trial.boundary = true
}

func (b *Bank) best(now instant) (best *belief) {
	s := b.scene(now, 0)
	var promise float64
	var opens instant
	for _, l := range b.laws {
		if !l.alive() {
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

// focus lets the laws that watch a range look closer at what is left of it.
func (b *Bank) focus() {
	for _, l := range b.laws {
		if f, ok := l.law.(*leak); ok {
			for f.closer() {
				b.rejudge(l)
			}
		}
	}
}

// forget drops the older half of the evidence: the server counts otherwise than it did, or others draw on the same quota.
func (b *Bank) forget() {
	b.since = (b.since + b.tape.judged + 1) / 2
	b.restart()
	for _, l := range b.laws {
		l.right = 0
	}
	b.focus()
}

func (b *Bank) scene(now instant, inFlight int) scene {
	return scene{tape: &b.tape, now: now, inFlight: inFlight, guard: b.guard(), latency: b.net.Latency}
}
