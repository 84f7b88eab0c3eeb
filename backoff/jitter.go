package backoff

import (
	"fmt"
	"time"
)

// Jitter is how a delay is picked from the interval of a retry, so that clients which failed together do not come back together.
//
// Decorrelated jitter is left out on purpose: it needs the delay before, which a function of the retry alone does not have, and
// in the simulation that AWS published with it ("Exponential Backoff And Jitter", 2015) full jitter needs fewer calls.
type Jitter uint8

// The kinds of jitter. Full is the zero value.
const (
	Full  Jitter = iota // anywhere from Min to the interval
	Equal               // anywhere from half of the interval (but at least Min) to the interval
	None                // the interval itself: for tests, and for clients that are alone
)

// String is the name of the kind in lower case.
func (j Jitter) String() string {
	switch j {
	case Full:
		return "full"
	case Equal:
		return "equal"
	case None:
		return "none"
	}
	return fmt.Sprintf("Jitter(%d)", uint8(j))
}

// floor is the shortest delay that may be picked from interval.
func (j Jitter) floor(least, interval time.Duration) time.Duration {
	switch j {
	case None:
		return interval
	case Equal:
		return max(least, interval/2)
	}
	return least
}

// pick is the point at u of the way from floor to ceiling, and never outside the two.
func pick(floor, ceiling time.Duration, u float64) time.Duration {
	if floor >= ceiling || !(u > 0) {
		return min(floor, ceiling)
	}
	if u >= 1 {
		return ceiling
	}
	return floor + time.Duration(u*float64(ceiling-floor))
}
