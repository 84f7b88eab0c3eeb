package bank

import "math"

// praise credits the law in force for a call that was let in.
func (b *Bank) praise(kind crossing, now instant) {
	l := b.obeyed
	if l == nil {
		return
	}
	switch kind {
	case ask:
		b.contradict(now)
	case prompt:
		l.credit()
		b.widen()
		b.reconsider(now)
	case late:
		b.widen()
	}
}

// contradict gives up a law that said no where the server said yes, or its limit if it has proved itself.
func (b *Bank) contradict(now instant) {
	if !b.renew(now) {
		b.obeyed.discredited = true
	}
}

// widen lets as many fly as the law in force allows once it has proved itself; until then they start slowly again.
func (b *Bank) widen() {
	switch l := b.obeyed; {
	case math.IsInf(l.state().Limit, 1):
		// Nothing was turned away since it began anew: it starts slowly, as everything does.
	case l.right >= proofs:
		b.ramp.lift()
	default:
		b.ramp.restart()
	}
}

// blame asks whether a refusal is the law's fault or the server's, and sets it aside if it may be the server's: at once where the
// law was sure, at the second in a row where it was only asking.
func (b *Bank) blame(id uint64, s send, now instant) {
	standing := 0
	if l := b.obeyed; l != nil {
		standing = l.right
		if s.cross == prompt || s.cross == late {
			l.miss()
		}
	}
	o := &b.outage
	if o.refused(s.at, now, s.cross) {
		if o.streak == 1 {
			o.first, o.right = id, standing
			b.save()
			b.chance = b.streaks.note(id)
		}
		if b.obeyed != nil && !o.doubt && s.cross != ask {
			b.extent = b.obeyed.extent()
		}
		if o.doubt || o.right >= proofs && (!b.asking(now) || o.streak > b.obeyed.tolerance()) {
			b.doubt(now)
		}
	}
	if o.doubt {
		b.excuse()
	}
}

// asking is whether the law in force would not be surprised by a refusal now.
func (b *Bank) asking(now instant) bool {
	s := b.scene(now, b.tape.flying())
	return b.obeyed.asking(s)
}

// patienceWithLaws is how many refusals in a row a law may survive without learning from them.
const patienceWithLaws = 3

// surprise holds what is left of the law in force against what was left when a refusal came. A law that gave nothing up was surprised;
// if it is surprised too often it is obeyed no more, though no single answer contradicts it.
func (b *Bank) surprise() {
	l, before := b.obeyed, b.extent
	b.extent = 0
	if l == nil || before == 0 || !l.alive() {
		return
	}
	if l.extent() < 0.99*before {
		l.surprises = 0
		return
	}
	l.surprise()
	l.surprises++
	l.discredited = l.surprises > patienceWithLaws
}
