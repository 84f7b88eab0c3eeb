package bank

import "time"

// replayed is how many of the last calls are evidence when laws are judged anew: enough for every law to be told from the others,
// few enough for a replay of a millisecond.
const replayed = 1024

// think takes whatever has become certain as evidence, and chooses anew if that was a refusal, or if the law in force is dead.
func (b *Bank) think(now instant) {
	b.presume(now)
	b.settle(now)
	b.age(now)
	if b.laws == nil {
		return
	}
	refused := false
	for b.ripe(now) {
		refused = b.judge(b.laws, b.tape.judged) || refused
		if b.sharing() {
			b.judge([]*belief{b.obeyed}, b.tape.judged)
		}
		b.tape.judged++
		b.focus(b.tape.judged)
	}
	if refused || b.obeyed != nil && !b.obeyed.living() {
		b.choose(now)
	}
}

// canaryOver is when a canary that is out will have been let in, if it was not turned away by then.
func (b *Bank) canaryOver() instant {
	if !b.trial.flying {
		return dawn
	}
	return b.trial.left + b.reflex.patience()
}

// presume takes a canary for let in when a refusal would be back. Calls may take long; nobody need wait for that.
func (b *Bank) presume(now instant) {
	if !b.trial.flying || now < b.canaryOver() {
		return
	}
	b.trial.flying = false
	s := &b.tape.sends[b.tape.index(b.trial.id)]
	b.recover(s.at)
	b.praise(s.cross, now)
	s.cross = within
}

// settle fixes the place of every call whose outcome is known, or can be presumed.
func (b *Bank) settle(now instant) {
	t, presumed := &b.tape, now-b.reflex.patience()
	for t.settled < len(t.sends) && (t.sends[t.settled].outcome != pending || t.sends[t.settled].at < presumed) {
		t.settle()
	}
}

// ripe is whether everything is known that may bear on the next call to be judged.
func (b *Bank) ripe(now instant) bool {
	t := &b.tape
	if t.judged >= t.settled {
		return false
	}
	through := t.sends[t.judged].at + b.guard()
	return through < now && (t.settled == len(t.sends) || t.sends[t.settled].at > through)
}

// news is when the next call will be ripe, which may change everything; never if that is not a matter of time.
func (b *Bank) news(now instant) instant {
	t := &b.tape
	if t.judged == len(t.sends) {
		return never
	}
	if at := t.sends[t.judged].at + b.guard() + b.reflex.patience() + time.Nanosecond; at > now {
		return at
	}
	return never
}

// due is when the last refusal will be ripe.
func (b *Bank) due() instant { return b.refusedAt + b.guard() + b.reflex.patience() + time.Nanosecond }

func (b *Bank) guard() time.Duration { return b.reflex.guard(b.net.Guard) }

// judge shows a call to some laws; it says whether it was a refusal.
func (b *Bank) judge(laws []*belief, i int) (refused bool) {
	s := &b.tape.sends[i]
	if s.outcome == lost || s.outcome == excused {
		return false
	}
	id := b.tape.id(i)
	b.exhibit = evidence{tape: &b.tape, i: i, at: s.at, guard: b.guard(), latency: b.net.Latency, reach: b.reflex.least}
	e := &b.exhibit
	e.before, e.through = b.tape.seek(i, s.at-e.guard), b.tape.seek(i, s.at+e.guard)
	h, told := b.words.about(id)
	for _, l := range laws {
		if id < l.since || !l.alive() {
			continue
		}
		l.judge(e)
		if told {
			l.heed(e, h)
		}
	}
	return e.refused()
}

// oldest is where the evidence begins that is judged anew.
func (b *Bank) oldest() int {
	return max(b.tape.index(b.since), b.tape.judged-replayed)
}

// focus lets the leak look closer at the rates that are left, at all evidence before a call.
func (b *Bank) focus(end int) {
	s := scene{tape: &b.tape}
	for l := b.leak.law.(*leak); l.moved && l.closer(s.recent()); {
		for i := b.oldest(); i < end; i++ {
			b.judge([]*belief{b.leak}, i)
		}
	}
}

// restart judges all laws anew.
func (b *Bank) restart() {
	for _, l := range b.laws {
		l.forget()
	}
	b.saved = nil
	b.rejudge(b.laws, b.tape.id(b.oldest()))
}

// rejudge shows some laws the evidence from a call on.
func (b *Bank) rejudge(laws []*belief, from uint64) {
	for i := max(b.tape.index(from), b.oldest()); i < b.tape.judged; i++ {
		b.judge(laws, i)
		b.focus(i + 1)
	}
}
