package bank

// praise credits the law that named the moment of a call that was let in.
func (b *Bank) praise(id uint64, now instant) {
	crossed := b.trial.answered(id)
	if b.obeyed == nil {
		return
	}
	if !crossed {
		return
	}
	if b.trial.asks {
		b.obeyed.discredited = true // it said no, and the server said yes
		return
	}
	if !b.trial.prompt {
		b.ramp.restart()
		return
	}
	b.obeyed.right++
	b.obeyed.wrong = 0
	if b.obeyed.right > 8 {
		b.obeyed.surprises = 0
	}
	if _, ok := b.obeyed.law.(*flight); !ok && b.obeyed.right < proofs {
		b.ramp.restart()
	} else {
		b.ramp.lift()
	}
	b.reconsider(now)
}

// blame asks whether a refusal is the law's fault or the server's, and sets it aside if it may be the server's: at once where the
// law was sure, at the second in a row where it was only asking.
func (b *Bank) blame(id uint64, at, now instant) {
	standing := b.standing()
	if b.trial.answered(id) && b.obeyed != nil && !b.trial.asks {
		b.obeyed.wrong++
		if b.obeyed.windowed() {
			b.obeyed.right = 0
		}
	}
	o := &b.outage
	if o.refused(at, now) {
		if b.obeyed != nil && !o.doubt {
			b.extent = b.obeyed.extent()
		}
		if o.streak == 1 {
			o.first, o.right = id, standing
		}
		if o.doubt || o.right >= proofs && (o.streak > 1 || !b.asking(now)) {
			b.doubt(now)
		}
	}
	if o.doubt {
		b.excuse()
	}
}

// doubt sets the refusals of the streak aside, and holds until a probe may tell what they were.
func (b *Bank) doubt(now instant) {
	b.outage.doubt = true
	b.outage.extend(now)
	b.excuse()
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

// standing is how often in a row the law in force was right.
func (b *Bank) standing() int {
	if b.obeyed == nil {
		return 0
	}
	return b.obeyed.right
}

func (b *Bank) asking(now instant) bool {
	s := b.scene(now, int(b.tape.next)-int(b.tape.done))
	return b.obeyed.asking(&s)
}

// recover ends an outage when a call was let in that left after it began. If already the first one was, and soon, there was no outage:
// the law was wrong. If it left late, since the server had named a long wait, nobody knows; the law has to prove itself again.
func (b *Bank) recover(at instant) {
	if at <= b.outage.began || b.outage.streak == 0 {
		return
	}
	if b.outage.doubt {
		if b.outage.streak == 1 && at-b.outage.began < 2*firstHold {
			b.accuse()
		}
		b.obeyed.right = 0
	}
	b.outage.over()
}

// excuse sets every refusal of the streak aside.
func (b *Bank) excuse() { b.relabel(refused, excused) }

// accuse turns the refusals of the streak into evidence after all.
func (b *Bank) accuse() { b.relabel(excused, refused) }

func (b *Bank) relabel(from, to outcome) {
	judged := false
	for i := b.tape.index(b.outage.first); i < len(b.tape.sends); i++ {
		if s := &b.tape.sends[i]; s.outcome == from {
			s.outcome = to
			judged = judged || i < b.tape.judged
		}
	}
	if judged {
		b.restart()
	}
}

// restart judges all laws anew.
func (b *Bank) restart() {
	for _, l := range b.laws {
		l.forget()
	}
	b.rejudge(b.laws...)
}
