package bank

import "time"

// think takes whatever has become certain as evidence, and chooses anew if that was a surprise.
func (b *Bank) think(now instant) {
	b.settle(now)
	if b.laws == nil {
		return
	}
	surprise := false
	for b.ripe(now) {
		surprise = b.judge(b.laws, b.tape.judged) || surprise
		b.tape.judged++
		b.focus(b.tape.judged)
	}
	if surprise || b.obeyed != nil && (b.obeyed.discredited || !b.obeyed.alive()) {
		b.choose(now)
	}
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

// due is when the last refusal will be ripe.
func (b *Bank) due() instant { return b.refusedAt + b.guard() + b.reflex.patience() + time.Nanosecond }

func (b *Bank) guard() time.Duration { return b.reflex.guard(b.net.Guard) }

// judge shows a call to some laws; it says whether it was a refusal.
func (b *Bank) judge(laws []*belief, i int) (refused bool) {
	s := &b.tape.sends[i]
	if s.outcome == lost || s.outcome == excused {
		return false
	}
	e := evidence{tape: &b.tape, i: i, at: s.at, guard: b.guard(), latency: b.net.Latency, reach: b.reflex.least}
	e.before, e.through = b.tape.seek(i, s.at-e.guard), b.tape.seek(i, s.at+e.guard)
	for _, l := range laws {
		l.judge(&e)
	}
	if !e.refused() {
		return false
	}
	if h, ok := b.word(b.tape.id(i)); ok {
		for _, l := range laws {
			l.heed(&e, h)
		}
	}
	return true
}

// focus lets the leak look closer at the rates that are left, at all evidence before a call.
func (b *Bank) focus(end int) {
	for b.leak.closer() {
		for i := b.since; i < end; i++ {
			b.judge(b.leaks, i)
		}
	}
}

// rejudge shows all evidence to some laws again, which have forgotten it.
func (b *Bank) rejudge(laws ...*belief) {
	for i := b.since; i < b.tape.judged; i++ {
		b.judge(laws, i)
		b.focus(i + 1)
	}
}
