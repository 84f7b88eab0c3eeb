package bank

import (
	"math"
	"time"
)

// firstDoubt is how long a law that has not proved itself may keep everybody waiting without being doubted: longer than a minute, which
// is the window that most servers count in.
const firstDoubt = 65 * time.Second

// soon is when a law is doubted that keeps everybody waiting for longer.
const soon = 5 * time.Second

// firstAsk is how often a law must have been right before it is asked after: a limit may have risen. It is asked after again when it was
// right twice as often, but seldomAsk times more at the most, and as soon as one refusal among the calls since is cheap.
const (
	firstAsk  = 4
	seldomAsk = 16
)

// ask is when to send a call although the law in force makes it wait until a moment; that moment if not at all. A law that has not
// proved itself is doubted if it keeps everybody waiting for long. One that has is asked for one call more than its limit when it was
// right 4, 8, 16 … times, unless the wait is short.
func (b *Bank) ask(until instant) instant {
	l := b.obeyed
	switch {
	case until == never || !l.mayAsk():
		return until
	case l.right < proofs:
		return b.outage.ask(b.trial.since, until)
	case l.windowed() && l.right >= l.nextAsk() && b.worthAsking(l.state().Window, until):
		// Those that took the last places have surely arrived by then, and a wait named in whole seconds is no longer than the law's.
		step := time.Second
		if b.chance { // and a window of a second would never be doubted
			step = min(step, l.state().Window/4)
		}
		return until - (until - b.trial.since - 4*b.guard()).Truncate(step)
	}
	return until
}

// nextAsk is how often a window must have been right before it is asked after.
func (l *belief) nextAsk() int {
	if l.asked == 0 {
		return firstAsk
	}
	cheap := max(math.Ceil(quietCalls/l.state().Limit), 1)
	return l.asked + int(min(float64(l.asked), seldomAsk, cheap))
}

// worthAsking is whether the wait is a long one, or the window has trickled on for so long that no long one will come. After refusals by
// chance a single window without another is enough to doubt the law that they looked like.
func (b *Bank) worthAsking(window time.Duration, until instant) bool {
	since, calm := b.trial.since, firstAsk*window
	if b.chance {
		calm = window
	}
	return until-since >= window/4 || since-b.refusedAt >= calm
}
