package throttle

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed-18ca0a92/throttle/budget"
)

// The lane as a whole does what a plain list would do, to the nanosecond.
func TestLaneEqualsThePlainModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		policies := rapid.SliceOfN(rapid.Custom(anyPolicy), 1, 3).Draw(r, "policies")
		slots := rapid.IntRange(0, 3).Draw(r, "slots")
		errands := rapid.SliceOfN(rapid.Custom(anyErrand), 1, 40).Draw(r, "errands")
		for i := range errands {
			errands[i].at = apart(3*i, errands[i].at)
			if errands[i].patience > 0 {
				errands[i].patience = apart(3*i+1, errands[i].patience)
			}
			errands[i].work = apart(3*i+2, errands[i].work)
		}
		opts := []Option{WithPolicies(policies...), WithMaxHold(1000 * time.Hour)}
		if slots > 0 {
			opts = append(opts, WithMaxInFlight(slots))
		}
		require.Equal(r, playModel(r, errands, slots, policies...), play(t, errands, opts...))
	})
}

func anyPolicy(r *rapid.T) budget.Policy {
	p := budget.Policy{
		Unit:   rapid.SampledFrom([]string{"", budget.Tokens}).Draw(r, "unit"),
		Limit:  float64(rapid.IntRange(1, 12).Draw(r, "limit")),
		Window: time.Duration(rapid.IntRange(1, 20).Draw(r, "window")) * 100 * time.Millisecond,
		Algorithm: rapid.SampledFrom([]budget.Algorithm{
			budget.Auto, budget.TokenBucket, budget.LeakyBucket, budget.FixedWindow, budget.SlidingLog, budget.SlidingCounter}).Draw(r, "algorithm"),
	}
	if p.Algorithm <= budget.TokenBucket {
		p.Burst = float64(rapid.IntRange(0, 12).Draw(r, "burst"))
	}
	return p
}

func anyErrand(r *rapid.T) errand {
	e := errand{
		at:       time.Duration(rapid.IntRange(0, 3000).Draw(r, "at")) * time.Millisecond,
		priority: rapid.IntRange(-1, 1).Draw(r, "priority"),
		patience: time.Duration(max(0, rapid.IntRange(-2000, 2000).Draw(r, "patience"))) * time.Millisecond,
		work:     time.Duration(rapid.IntRange(0, 500).Draw(r, "work")) * time.Millisecond,
		undone:   rapid.IntRange(0, 9).Draw(r, "undone") == 0,
	}
	if tokens := rapid.IntRange(-3, 12).Draw(r, "tokens"); tokens >= 0 {
		e.cost = budget.Cost{budget.Tokens: float64(tokens)}
		if requests := rapid.IntRange(0, 5).Draw(r, "requests"); requests < 3 {
			e.cost[budget.Requests] = float64(requests)
		}
	}
	return e
}

// Ten thousand wait, and a random half gives up at random moments. What leaves, and when, is the same as if those had never come.
func TestCancelledWaitersLeaveNoTrace(t *testing.T) {
	for name, policies := range map[string][]budget.Policy{
		"bucket":         {budget.PerSecond(100).WithBurst(10)},
		"log":            {budget.PerSecond(100)},
		"window":         {budget.PerMinute(3000).Using(budget.FixedWindow)},
		"spacing":        {budget.PerSecond(100).Using(budget.LeakyBucket)},
		"three together": {budget.PerSecond(100).WithBurst(10), budget.PerMinute(5000), budget.PerMinute(50_000).Of(budget.Tokens)},
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			errands := crowd(r, 10_000, 30*time.Second)
			if name != "three together" {
				errands = errands[:5000] // enough to wait; all of them would take a second
			}
			for i := range errands {
				errands[i].priority = r.IntN(3)
				errands[i].cost = budget.Cost{budget.Tokens: 10}
				if r.IntN(2) == 0 {
					errands[i].patience = apart(i, time.Duration(r.Float64()*float64(90*time.Second)))
				}
			}
			left := play(t, errands, WithPolicies(policies...))
			assert.Greater(t, len(left), len(errands)/2)
			assert.Less(t, len(left), len(errands)*97/100, "some gave up")
			assert.Equal(t, left, play(t, only(errands, left), WithPolicies(policies...)))
		})
	}
}

// only makes those errands come that left, and lets them wait as long as they must.
func only(errands []errand, left []departure) []errand {
	some := make([]errand, len(errands))
	for _, d := range left {
		some[d.errand] = errands[d.errand]
		some[d.errand].patience = 0
	}
	return some
}
