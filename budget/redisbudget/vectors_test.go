package redisbudget

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

// vector is one step of a story: what is taken or given back at a moment, how long it waits, and what is used then.
type vector struct {
	ms   int64
	take float64 // negative: given back
	wait int64   // milliseconds
	used float64 // after it, at that moment, if it did not wait
}

// vectors are stories of ten units per second, told of each law by hand: a burst, a wait, a refund, a pause until all is there again. They
// are played into the laws of package budget and into those of the script.
var vectors = map[string]struct {
	policy budget.Policy
	steps  []vector
}{
	"token bucket": {budget.PerSecond(10).WithBurst(5), []vector{
		{0, 3, 0, 3}, {0, 2, 0, 5}, {0, 1, 100, 0}, {100, 1, 100, 0}, {300, -1, 0, 3}, {300, 2, 0, 5}, {300, 5, 500, 0}, {2000, 5, 0, 5},
	}},
	"leaky bucket": {budget.PerSecond(10).Using(budget.LeakyBucket), []vector{
		{0, 1, 0, 1}, {0, 1, 100, 0}, {0, 2, 200, 0}, {150, 1, 250, 0}, {1000, 3, 0, 3}, {1000, -1, 0, 2}, {1000, 1, 200, 0},
	}},
	"fixed window": {budget.PerSecond(10).Using(budget.FixedWindow), []vector{
		{200, 4, 0, 4}, {900, 6, 0, 10}, {950, 1, 50, 0}, {1000, 9, 0, 10}, {1500, -2, 0, 8}, {1600, 2, 0, 10}, {1700, 1, 300, 0}, {5000, 10, 0, 10},
	}},
	"sliding log": {budget.PerSecond(10), []vector{
		{0, 4, 0, 4}, {300, 6, 0, 10}, {500, 1, 500, 0}, {1000, 3, 0, 10}, {1100, 2, 200, 0}, {1300, 4, 0, 10}, {5000, 10, 0, 10},
	}},
	"sliding counter": {budget.PerSecond(10).Using(budget.SlidingCounter), []vector{
		{0, 10, 0, 10}, {0, 1, 1100, 0}, {1100, 1, 100, 0}, {1500, 3, 0, 10}, {4000, 10, 0, 10}, {4500, -4, 0, 6}, {4500, 4, 0, 10},
	}},
}

// A wait in a vector is taken at its end, and the story goes on where the next step says, but not earlier.
func TestTheLawsOfTheScriptAndOfTheProcessTellTheSameStories(t *testing.T) {
	client := startRedis(t).client()
	covered := map[budget.Algorithm]bool{}
	for name, story := range vectors {
		t.Run(name, func(t *testing.T) {
			p := story.policy.Resolve()
			covered[p.Algorithm] = true
			ours, err := budget.New(p)
			require.NoError(t, err)
			theirs := newLaw(t, client, name, p)
			for i, v := range story.steps {
				now := millis(v.ms)
				if v.take < 0 {
					ours.Give(now, -v.take)
					theirs.give(now, -v.take)
				} else {
					wait, ever := ours.Wait(now, v.take)
					require.True(t, ever)
					assert.InDelta(t, v.wait, float64(wait)/1e6, 1e-3, "step %d, here", i)
					assert.InDelta(t, v.wait, float64(theirs.take(now, v.take))/1e6, 1e-2, "step %d, in the script", i)
					ours.Take(now.Add(wait), v.take)
				}
				if v.wait == 0 {
					assert.InDelta(t, v.used, ours.State(now).Used, 1e-6, "step %d, here", i)
					assert.InDelta(t, v.used, theirs.ask(now, &ask{}).seen[0].used, 1e-4, "step %d, in the script", i)
				}
			}
		})
	}
	assert.Len(t, covered, len(algorithms), "all of them")
}
