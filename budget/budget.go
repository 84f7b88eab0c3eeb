package budget

import (
	"math"
	"time"
)

// Budget is the running state of one policy: how much may leave, and when. It is pure: time is an argument, nothing sleeps,
// nothing locks. Its state changes only in Take and Give. For these, a moment before one already seen counts as that later
// moment, so a clock that steps back neither grants nor destroys units. Not safe for concurrent use.
type Budget interface {
	// Wait is how long after now n units may be taken, zero for at once; ever is false when the budget can never hold n. It is
	// the time from now to At.
	Wait(now time.Time, n float64) (d time.Duration, ever bool)
	// At is the moment from which n units may be taken when nothing else is. It follows from the state alone, whatever now is: it lies in
	// the past when the units have been there for a while, and is the zero Time when no moment is known at which they were not.
	// So a caller that must leave a margin g after every grant asks for now ≥ At+g. Nothing (n ≤ 0) may always be taken.
	At(now time.Time, n float64) (at time.Time, ever bool)
	// Take spends n units. Only after Wait said 0; a Take that comes sooner all the same becomes debt. Nothing is taken when n ≤ 0.
	Take(now time.Time, n float64)
	// Give returns n units that were taken and not used, but not more than are spent. A negative n is debt: it counts like units
	// taken now, although there may be no room for them, and has to be paid off before anything else leaves. Where the moment at which
	// the units were taken is known, GiveBack is more exact.
	Give(now time.Time, n float64)
	// State describes the budget at now.
	State(now time.Time) State
}

// State is a budget as seen at one moment. Amounts are in the policy's unit.
type State struct {
	Limit     float64       // units per Window
	Window    time.Duration // what Limit is counted over
	Used      float64       // spent and not given back by time; above Limit after a debt
	Available float64       // may be taken now; never negative
	Next      time.Time     // when one whole unit more than Available (or all there can be) may be taken; zero if it is full
}

// New makes the budget of a policy, full: nothing spent yet. It fails with the error of Policy.Validate.
func New(p Policy) (Budget, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return newLaw(p.Resolve()), nil
}

// GiveBack returns n units that were taken at the moment taken, and were not used. It is Give for a caller who knows that moment:
// what time has given back already is not given a second time, and the rest comes off the very units that were taken. A negative n
// is debt as of now. Budgets that are not this package's get a plain Give.
func GiveBack(b Budget, taken, now time.Time, n float64) {
	if l, ok := b.(law); ok && n > 0 {
		l.giveBack(taken, now, n)
		return
	}
	b.Give(now, n)
}

// law is a Budget of this package.
type law interface {
	Budget
	policy() Policy
	giveBack(taken, now time.Time, n float64)
	// spent lists what is still counted against the limit, oldest first. A budget of the same policy that takes it, in that
	// order, stands where this one does; one of another policy stands where it would, as far as this one remembers.
	spent(now time.Time) []spend
}

type spend struct {
	at time.Time
	n  float64
}

// newLaw makes the budget of a valid, resolved policy.
func newLaw(p Policy) law {
	switch p.Algorithm {
	case LeakyBucket:
		return newLeakyBucket(p)
	case FixedWindow:
		return newFixedWindow(p)
	case SlidingCounter:
		return newSlidingCounter(p)
	case SlidingLog:
		return newSlidingLog(p)
	}
	return newTokenBucket(p)
}

// slack is what a limit may be exceeded by, relatively: a few bits, so that fractions which add up to the limit on paper (0.1 and
// 0.2 to 0.3) are not refused for their rounding. Whole units are counted exactly all the same, up to maxLimit.
const slack = 1 + 0x1p-50

// waitUntil turns the answer of At into that of Wait.
func waitUntil(at time.Time, ever bool, now time.Time) (time.Duration, bool) {
	if !ever || !at.After(now) {
		return 0, ever
	}
	return at.Sub(now), true
}

// stateOf fills in a State: b is what is described, most the largest amount it can ever hold.
func stateOf(b law, now time.Time, most, used, available float64) State {
	p := b.policy()
	s := State{Limit: p.Limit, Window: p.Window, Used: max(0, used), Available: min(most, max(0, available))}
	if s.Used > 0 {
		s.Next, _ = b.At(now, min(most, math.Floor(s.Available)+1))
		s.Next = later(now, s.Next)
	}
	return s
}

// later is the later one of two moments.
func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// span is the time that n units take at a rate per second, rounded up to the nanosecond.
func span(n, rate float64) time.Duration { return nanoseconds(math.Ceil(n / rate * 1e9)) }

// nanoseconds is a whole number of them, cut off at the longest Durations.
func nanoseconds(ns float64) time.Duration {
	switch {
	case ns >= math.MaxInt64:
		return math.MaxInt64
	case ns <= math.MinInt64:
		return math.MinInt64
	}
	return time.Duration(ns)
}

// bounded makes an amount safe to count with: not a number is nothing, and what exceeds the largest limit a thousandfold is that.
func bounded(n float64) float64 {
	if math.IsNaN(n) {
		return 0
	}
	return max(-1e3*maxLimit, min(n, 1e3*maxLimit))
}
