package budget_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

func ExampleNew() {
	p, err := budget.ParsePolicy("3/minute")
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := budget.New(p)
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for range 4 {
		d, _ := b.Wait(now, 1)
		now = now.Add(d)
		b.Take(now, 1)
		fmt.Println(now.Format(time.TimeOnly))
	}
	// Output:
	// 12:00:00
	// 12:00:00
	// 12:00:00
	// 12:01:00
}

func TestPoliciesAreMadeInOneLine(t *testing.T) {
	assert.Equal(t, budget.Policy{Limit: 5, Window: time.Second}, budget.PerSecond(5))
	assert.Equal(t, budget.Policy{Limit: 5, Window: time.Minute}, budget.PerMinute(5))
	assert.Equal(t, budget.Policy{Limit: 5, Window: time.Hour}, budget.PerHour(5))
	assert.Equal(t, budget.Policy{Limit: 5, Window: 24 * time.Hour}, budget.PerDay(5))
	assert.Equal(t,
		budget.Policy{Unit: "tokens", Limit: 200_000, Window: time.Minute, Burst: 1000, Algorithm: budget.TokenBucket},
		budget.PerMinute(200_000).Of(budget.Tokens).WithBurst(1000).Using(budget.TokenBucket))
}

// PAC-04 and more: what cannot be counted is refused at construction, with what is wrong, where, and what to do.
func TestPAC04ConstructorErrors(t *testing.T) {
	second := budget.PerSecond(5)
	for _, c := range []struct {
		name   string
		policy budget.Policy
		want   string // empty: fine
	}{
		{"plain", second, ""},
		{"a tiny rate", budget.PerSecond(1e-9), ""},
		{"a huge rate", budget.PerSecond(1e12), ""},
		{"a millisecond", budget.Policy{Limit: 1, Window: time.Millisecond}, ""},
		{"thirty days", budget.Policy{Limit: 1, Window: 30 * 24 * time.Hour}, ""},
		{"burst of one", second.WithBurst(1), ""},
		{"half a credit at once", second.Of("credits").WithBurst(0.5), ""},

		{"nothing", budget.Policy{}, `policy "0/0s": Limit is 0: use a number above 0`},
		{"no limit", budget.PerSecond(0), "Limit is 0: use a number above 0 and at most 1e+15 (to stop a key, hold it"},
		{"negative limit", budget.PerSecond(-1), `policy "-1/second": Limit is -1`},
		{"limit NaN", budget.PerSecond(math.NaN()), "Limit is NaN"},
		{"limit infinite", budget.PerSecond(math.Inf(1)), "Limit is +Inf"},
		{"limit beyond exact counting", budget.PerSecond(1e16), "at most 1e+15"},
		{"no window", budget.Policy{Limit: 1}, "Window is 0s: use 1ms to 36600d"},
		{"negative window", budget.Policy{Limit: 1, Window: -time.Second}, "Window is -1s"},
		{"short window", budget.Policy{Limit: 1, Window: time.Microsecond}, "Window is 1µs"},
		{"long window", budget.Policy{Limit: 1, Window: math.MaxInt64}, "use 1ms to 36600d"},
		{"one in a thousand years", budget.PerDay(1e-9), "one unit would take longer than 36600d: raise Limit"},
		{"negative burst", second.WithBurst(-1), "Burst is -1: use 1 to 1e+15, or zero for the default"},
		{"burst below one", second.WithBurst(0.5), `policy "5/second burst 0.5": Burst is 0.5: use 1`},
		{"burst NaN", second.WithBurst(math.NaN()), "Burst is NaN"},
		{"burst infinite", second.WithBurst(math.Inf(1)), "Burst is +Inf"},
		{"burst of even spacing", second.WithBurst(5).Using(budget.LeakyBucket), "leaky-bucket has no Burst: leave it out, or use token-bucket"},
		{"burst of a window", second.WithBurst(5).Using(budget.FixedWindow), "fixed-window has no Burst"},
		{"burst of a log", second.WithBurst(5).Using(budget.SlidingLog), "sliding-log has no Burst"},
		{"burst of a counter", second.WithBurst(5).Using(budget.SlidingCounter), "sliding-counter has no Burst"},
		{"no algorithm", second.Using(9), "Algorithm(9) is no algorithm: use one of auto, token-bucket"},
		{"anchor of a log", budget.Policy{Limit: 1, Window: time.Hour, Algorithm: budget.SlidingLog, Anchor: midnight}, "sliding-log has no Anchor: leave it out, or use fixed-window"},
		{"anchor of Auto", budget.Policy{Limit: 1, Window: time.Hour, Anchor: midnight}, "auto has no Anchor"},
		{"anchor too late to write", budget.Policy{Limit: 1, Window: time.Hour, Algorithm: budget.FixedWindow, Anchor: time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC)}, "Anchor lies in the year 12026"},
		{"the name is said", budget.Policy{Name: "free tier", Window: time.Hour}, `\"free tier\"": Limit is 0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := budget.New(c.policy)
			assert.Equal(t, err, c.policy.Validate())
			if c.want == "" {
				assert.NoError(t, err)
				assert.NotNil(t, b)
				return
			}
			assert.Nil(t, b)
			assert.ErrorContains(t, err, c.want)
			assert.ErrorContains(t, err, "budget: ")
		})
	}
}

func TestEverythingWrongIsReportedAtOnce(t *testing.T) {
	err := budget.Policy{Limit: -1, Window: -1, Burst: -1, Algorithm: 99, Anchor: midnight}.Validate()
	for _, part := range []string{"Limit is -1", "Window is -1ns", "Burst is -1", "no algorithm", "no Anchor"} {
		assert.ErrorContains(t, err, part)
	}
}

func TestResolveFillsIn(t *testing.T) {
	minute := budget.PerMinute(10)
	requests := minute.Of(budget.Requests)
	for _, c := range []struct {
		name       string
		from, want budget.Policy
	}{
		{"strict", minute, requests.Using(budget.SlidingLog)},
		{"with a burst", minute.WithBurst(3), requests.WithBurst(3).Using(budget.TokenBucket)},
		{"a bucket's own burst", minute.Using(budget.TokenBucket), requests.WithBurst(10).Using(budget.TokenBucket)},
		{"said already", requests.Using(budget.LeakyBucket), requests.Using(budget.LeakyBucket)},
		{"less than one request", budget.PerSecond(0.25), budget.Policy{Unit: "requests", Limit: 1, Window: 4 * time.Second, Algorithm: budget.SlidingLog}},
		{"a fraction that is not exact", budget.PerSecond(1.0 / 49), budget.Policy{Unit: "requests", Limit: 1, Window: 49 * time.Second, Algorithm: budget.SlidingLog}},
		{"less than one of something else", budget.PerDay(0.5).Of("dollars"), budget.PerDay(0.5).Of("dollars").Using(budget.SlidingLog)},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, c.from.Resolve())
			assert.Equal(t, c.want, c.want.Resolve(), "once is enough")
		})
	}
}

// Less than one request per window still lets one through, at the pace that was meant.
func TestLessThanOneRequestPerWindow(t *testing.T) {
	forEveryLaw(t, func(t *testing.T, a budget.Algorithm) {
		b := mustNew(t, budget.PerSecond(0.0167).Using(a))
		calls := greedy(t, b, midnight, 1, 12)
		perCall := between(calls[0].at, calls[11].at) / 11
		if a == budget.SlidingCounter {
			perCall /= 2 // one call in two windows, see its comment
		}
		assert.InDelta(t, 1/0.0167, perCall, 6)
		assert.Equal(t, 1.0, b.State(midnight).Limit)
	})
}

func TestShareLeavesTheRestToOthers(t *testing.T) {
	p := budget.PerMinute(100).WithBurst(20)
	assert.Equal(t, budget.PerMinute(75).WithBurst(15), p.Share(0.75))
	assert.Equal(t, p, p.Share(1))
	assert.Equal(t, budget.PerMinute(10).WithBurst(2), p.Share(0.1))
	assert.Equal(t, budget.PerMinute(1).WithBurst(1), p.Share(0.01), "a burst of requests does not fall below one")
	assert.Equal(t, budget.PerMinute(2).Of("credits").WithBurst(0.5), budget.PerMinute(8).Of("credits").WithBurst(2).Share(0.25))
	require.NoError(t, budget.PerDay(1).Share(0.001).Validate())
	for _, part := range []float64{0, -0.5, math.NaN(), math.Inf(1)} {
		assert.Error(t, p.Share(part).Validate(), "part %v", part)
	}
}

func TestSpacing(t *testing.T) {
	assert.Equal(t, 120*time.Millisecond, budget.PerMinute(500).Spacing())
	assert.Equal(t, 24*time.Hour, budget.PerDay(1).Spacing())
	assert.Equal(t, time.Duration(math.MaxInt64), budget.PerDay(1e-9).Spacing())
	assert.Equal(t, time.Duration(1), budget.PerSecond(1e12).Spacing())
}

// Budgets hold a policy's own idea of Limit and Window, as State says.
func TestStateSpeaksOfTheResolvedPolicy(t *testing.T) {
	forEveryLaw(t, func(t *testing.T, a budget.Algorithm) {
		s := mustNew(t, budget.PerSecond(0.25).Using(a)).State(midnight)
		assert.Equal(t, budget.State{Limit: 1, Window: 4 * time.Second, Available: 1}, s)
	})
}

func TestAlgorithmNames(t *testing.T) {
	for _, a := range algorithms {
		text, err := a.MarshalText()
		require.NoError(t, err)
		var back budget.Algorithm
		require.NoError(t, back.UnmarshalText(text))
		assert.Equal(t, a, back)
	}
	for _, s := range []string{"fixed-window", "FixedWindow", "FIXED_WINDOW", "fixedwindow"} {
		a, err := budget.ParseAlgorithm(s)
		require.NoError(t, err)
		assert.Equal(t, budget.FixedWindow, a)
	}
	for _, s := range []string{"", "bucket", "fixed window"} {
		_, err := budget.ParseAlgorithm(s)
		assert.ErrorContains(t, err, "is no algorithm: use one of auto, token-bucket, leaky-bucket, fixed-window, sliding-log, sliding-counter")
	}
	assert.Equal(t, "Algorithm(77)", budget.Algorithm(77).String())
	_, err := budget.Algorithm(77).MarshalText()
	assert.Error(t, err)
	unchanged := budget.SlidingLog
	assert.Error(t, unchanged.UnmarshalText([]byte("?")))
	assert.Equal(t, budget.SlidingLog, unchanged)
}
