package budget_test

import (
	"math"
	"slices"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed-18ca0a92/throttle/budget"
)

// midnight is when most of the simulated time here begins: all windows begin there too.
var midnight = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// after is a moment given in seconds after midnight.
func after(seconds float64) time.Time {
	return midnight.Add(time.Duration(math.Round(seconds * 1e9)))
}

// testing is what both *testing.T and *rapid.T offer.
type tester interface {
	Errorf(format string, args ...any)
	FailNow()
	Helper()
}

func mustNew(t tester, p budget.Policy) budget.Budget {
	t.Helper()
	b, err := budget.New(p)
	require.NoError(t, err)
	return b
}

// call is something that was let out.
type call struct {
	at time.Time
	n  float64
}

// greedy lets calls of n out from start on, each as soon as it may leave, and says when that was.
func greedy(t tester, b budget.Budget, start time.Time, n float64, calls int) []call {
	t.Helper()
	var out []call
	now := start
	for range calls {
		d, ever := b.Wait(now, n)
		require.True(t, ever)
		now = now.Add(d)
		b.Take(now, n)
		out = append(out, call{now, n})
	}
	return out
}

// mostIn is the largest amount let out in any half-open span of the given length.
func mostIn(calls []call, span time.Duration) float64 {
	most := 0.0
	for i := range calls {
		sum := 0.0
		for _, c := range calls[i:] {
			if c.at.Sub(calls[i].at) >= span {
				break
			}
			sum += c.n
		}
		most = max(most, sum)
	}
	return most
}

// between is the seconds from one moment to another, also when they are more than the 292 years of a Duration.
func between(from, to time.Time) float64 {
	return float64(to.Unix()-from.Unix()) + float64(to.Nanosecond()-from.Nanosecond())/1e9
}

// inOrder sorts calls by their time.
func inOrder(calls []call) []call {
	return slices.SortedStableFunc(slices.Values(calls), func(a, b call) int { return a.at.Compare(b.at) })
}

// gaps are the seconds between one call and the next.
func gaps(calls []call) []float64 {
	var out []float64
	for i := 1; i < len(calls); i++ {
		out = append(out, calls[i].at.Sub(calls[i-1].at).Seconds())
	}
	return out
}

// seconds are the moments of calls, after midnight.
func seconds(calls []call) []float64 {
	var out []float64
	for _, c := range calls {
		out = append(out, c.at.Sub(midnight).Seconds())
	}
	return out
}

// logUniform draws a number between two others, each order of magnitude as likely as the next.
func logUniform(low, high float64) *rapid.Generator[float64] {
	return rapid.Map(rapid.Float64Range(math.Log(low), math.Log(high)), math.Exp)
}

// anyPolicy draws a policy of the given algorithm: rates from 1e-9 to 1e12 per second, windows from 1 ms to 30 days, bursts that are
// full again within a year.
func anyPolicy(a budget.Algorithm) *rapid.Generator[budget.Policy] {
	return rapid.Custom(func(t *rapid.T) budget.Policy {
		window := max(time.Millisecond, time.Duration(logUniform(1e6, 30*24*3600e9).Draw(t, "window")))
		limit := logUniform(1e-9, 1e12).Draw(t, "rate") * window.Seconds()
		if limit >= 1 && rapid.Bool().Draw(t, "whole") {
			limit = math.Floor(limit)
		}
		p := budget.Policy{Limit: min(limit, 1e15), Window: window, Algorithm: a}
		if a == budget.TokenBucket && rapid.Bool().Draw(t, "with burst") {
			p.Burst = math.Ceil(min(logUniform(1, 1e15).Draw(t, "burst"), limit/window.Seconds()*365*24*3600))
		}
		return p
	})
}

// smallPolicy draws a policy whose limit a few calls exhaust, in round numbers.
func smallPolicy(a budget.Algorithm) *rapid.Generator[budget.Policy] {
	return rapid.Custom(func(t *rapid.T) budget.Policy {
		p := budget.Policy{
			Limit:     float64(rapid.IntRange(1, 12).Draw(t, "limit")),
			Window:    rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second, 7 * time.Second, time.Minute, 30 * 24 * time.Hour}).Draw(t, "window"),
			Algorithm: a,
		}
		if a == budget.TokenBucket {
			p.Burst = float64(rapid.IntRange(0, 20).Draw(t, "burst"))
		}
		return p
	})
}

// pause draws a time between two calls: often none, mostly a part of the window, at times several windows.
func pause(window time.Duration) *rapid.Generator[time.Duration] {
	window = min(window, 20*365*24*time.Hour) // and no more than ten of them, lest the sum exceed a Duration
	return rapid.Map(rapid.IntRange(0, 99), func(k int) time.Duration {
		switch {
		case k < 30:
			return 0
		case k < 90:
			return time.Duration(float64(window) * float64(k-29) / 61)
		}
		return window * time.Duration(k-88)
	})
}

// amount draws what one call takes under p: mostly one unit, else up to all there can be; at times a fraction.
func amount(p budget.Policy) *rapid.Generator[float64] {
	most := most(p)
	return rapid.OneOf(
		rapid.Just(min(1, most)),
		rapid.Map(rapid.Float64Range(0, 1), func(part float64) float64 { return max(min(1, most), math.Floor(part*most)) }),
		rapid.Map(rapid.Float64Range(0.01, 1), func(part float64) float64 { return part * most }),
	)
}

// most is the largest amount a budget of p ever holds.
func most(p budget.Policy) float64 {
	p = p.Resolve()
	if p.Algorithm == budget.TokenBucket {
		return p.Burst
	}
	return p.Limit
}

var algorithms = []budget.Algorithm{
	budget.Auto, budget.TokenBucket, budget.LeakyBucket, budget.FixedWindow, budget.SlidingLog, budget.SlidingCounter,
}
