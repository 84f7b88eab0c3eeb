package budget

import "time"

// Budget is the running state of one policy: how much may leave, and when. It is pure: time is an argument, nothing sleeps,
// nothing locks. Its state changes only in Take and Give. A moment before one already seen counts as that later moment, so a
// clock that steps back neither grants nor destroys units. Not safe for concurrent use.
type Budget interface {
	// Wait is how long after now n units may be taken, zero for at once; ever is false when the budget can never hold n.
	Wait(now time.Time, n float64) (d time.Duration, ever bool)
	// At is the moment from which n units may be taken when nothing else is. It lies in the past when they have been there for a while, and is the
	// zero Time when no moment is known at which they were not; so a caller that must leave a margin g after every grant asks for now ≥ At+g.
	At(now time.Time, n float64) (at time.Time, ever bool)
	// Take spends n units. Only after Wait said 0.
	Take(now time.Time, n float64)
	// Give returns n units that were taken and not used; a negative n is debt, paid before anything else leaves.
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
	Next      time.Time     // when Available will next grow; zero if it is full
}
