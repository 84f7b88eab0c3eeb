package budget_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"github.com/seed-18ca0a92/throttle/budget"
)

// everyLaw is one policy for each way of counting, all of the same limit.
func everyLaw(perMinute float64) map[string]budget.Policy {
	p := budget.PerMinute(perMinute)
	return map[string]budget.Policy{
		"auto": p, "token-bucket": p.Using(budget.TokenBucket), "leaky-bucket": p.Using(budget.LeakyBucket),
		"fixed-window": p.Using(budget.FixedWindow), "sliding-log": p.Using(budget.SlidingLog),
		"sliding-counter": p.Using(budget.SlidingCounter), "auto-burst": p.WithBurst(20),
	}
}

// One call: ask, and take at the moment that was named. The budget is saturated, as it is where speed matters.
func BenchmarkAtAndTake(b *testing.B) {
	for name, p := range everyLaw(600_000) {
		b.Run(name, func(b *testing.B) {
			law, err := budget.New(p)
			require.NoError(b, err)
			now := time.Now()
			b.ReportAllocs()
			for b.Loop() {
				at, _ := law.At(now, 1)
				if at.After(now) {
					now = at
				}
				law.Take(now, 1)
			}
		})
	}
	b.Run("x-time-rate", func(b *testing.B) {
		lim := rate.NewLimiter(10_000, 600_000)
		now := time.Now()
		b.ReportAllocs()
		for b.Loop() {
			r := lim.ReserveN(now, 1)
			now = now.Add(r.DelayFrom(now))
		}
	})
}
