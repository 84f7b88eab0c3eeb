package redisbudget

import (
	"slices"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// absence is what happened since the process went on by itself, for Redis to know when it is back.
type absence struct {
	since time.Time // zero for none
	spent []float64
	trail [][]spending // when that was; not for a bucket
	quiet bool         // Redis was there, but others perhaps not yet: that ends as announced
}

// over takes off what Redis knows by now: what was told at a moment.
func (a *absence) over(told []float64, at time.Time) {
	a.since, a.quiet = time.Time{}, false
	accumulate(a.spent, told, -1)
	for i := range a.trail {
		a.trail[i] = slices.DeleteFunc(a.trail[i], func(s spending) bool { return !s.at.After(at) })
	}
}

// add notes what was spent.
func (a *absence) add(policies []budget.Policy, now time.Time, cost []float64) {
	accumulate(a.spent, cost, 1)
	for i, p := range policies {
		if !isBucket(p) && cost[i] != 0 {
			a.trail[i] = follow(a.trail[i], now, cost[i], p.Window)
		}
	}
}

// follow adds what was spent to what a window, and the one before, remember: to the sixteenth of it.
func follow(trail []spending, now time.Time, n float64, window time.Duration) []spending {
	trail = slices.DeleteFunc(trail, func(s spending) bool { return now.Sub(s.at) >= 2*window })
	part := window / 16
	if last := len(trail) - 1; last >= 0 && trail[last].at.Truncate(part).Equal(now.Truncate(part)) {
		trail[last] = spending{now, trail[last].n + n}
		return trail
	}
	return append(trail, spending{now, n})
}
