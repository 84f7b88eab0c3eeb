package backoff_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	curve "github.com/cenkalti/backoff/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed-18ca0a92/throttle/backoff"
)

const almostOne = 1 - 1.0/(1<<53)

func ExamplePolicy() {
	p := backoff.Policy{Initial: time.Second, Max: 10 * time.Second, Jitter: backoff.Equal}
	for retry := 1; retry <= 5; retry++ {
		fmt.Println(retry, p.DelayAt(retry, 0), "to", p.DelayAt(retry, 1))
	}
	// Output:
	// 1 500ms to 1s
	// 2 1s to 2s
	// 3 2s to 4s
	// 4 4s to 8s
	// 5 5s to 10s
}

// The table in the comment of Policy, row by row.
func TestZeroPolicyIsTheTableInItsComment(t *testing.T) {
	rows := []struct {
		retry                      int
		interval, fullMin, halfMin float64
	}{
		{1, 0.5, 0.25, 0.25}, {2, 1, 0.25, 0.5}, {3, 2, 0.25, 1}, {4, 4, 0.25, 2}, {5, 8, 0.25, 4},
		{6, 16, 0.25, 8}, {7, 32, 0.25, 16}, {8, 60, 0.25, 30}, {1000, 60, 0.25, 30},
	}
	full, equal, none := backoff.Policy{}, backoff.Policy{Jitter: backoff.Equal}, backoff.Policy{Jitter: backoff.None}
	for _, row := range rows {
		assert.Equal(t, row.fullMin, full.DelayAt(row.retry, 0).Seconds(), "full, retry %d", row.retry)
		assert.Equal(t, row.halfMin, equal.DelayAt(row.retry, 0).Seconds(), "equal, retry %d", row.retry)
		for _, p := range []backoff.Policy{full, equal, none} {
			assert.Equal(t, row.interval, p.DelayAt(row.retry, 1).Seconds(), "%v, retry %d", p.Jitter, row.retry)
		}
		assert.Equal(t, row.interval, none.DelayAt(row.retry, 0).Seconds(), "none, retry %d", row.retry)
	}
}

func TestTheRandomNumberPicksBetweenFloorAndInterval(t *testing.T) {
	p := backoff.Policy{Initial: 4 * time.Second, Min: time.Second, Max: 4 * time.Second}
	for _, step := range []struct {
		u    float64
		want time.Duration
	}{
		{0, time.Second}, {0.5, 2500 * time.Millisecond}, {1, 4 * time.Second},
		{-3, time.Second}, {7, 4 * time.Second}, {math.NaN(), time.Second}, {math.Inf(1), 4 * time.Second}, {math.Inf(-1), time.Second},
	} {
		assert.Equal(t, step.want, p.DelayAt(1, step.u), "u = %v", step.u)
	}
	assert.InDelta(t, float64(4*time.Second), float64(p.DelayAt(1, almostOne)), 2)
}

func TestRetriesBelowTheFirstCountAsTheFirst(t *testing.T) {
	p := backoff.Policy{Jitter: backoff.None}
	for _, retry := range []int{1, 0, -1, math.MinInt} {
		assert.Equal(t, backoff.DefaultInitial, p.Delay(retry), "retry %d", retry)
	}
}

// RTY-01: at the cap the delays are still spread.
func TestRTY01JitterDoesNotVanishAtTheMaximum(t *testing.T) {
	const samples = 1000
	for _, c := range []struct {
		jitter backoff.Jitter
		least  time.Duration
	}{{backoff.Equal, 4 * time.Second}, {backoff.Full, 250 * time.Millisecond}} {
		t.Run(c.jitter.String(), func(t *testing.T) {
			p := backoff.Policy{Max: 8 * time.Second, Jitter: c.jitter}
			seen := map[time.Duration]int{}
			var sum, squares float64
			for range samples {
				d := p.Delay(20)
				require.GreaterOrEqual(t, d, c.least)
				require.LessOrEqual(t, d, 8*time.Second)
				seen[d]++
				require.LessOrEqual(t, seen[d], samples/20, "one delay in more than 5 %% of the picks")
				sum += d.Seconds()
				squares += d.Seconds() * d.Seconds()
			}
			mean := sum / samples
			assert.GreaterOrEqual(t, math.Sqrt(squares/samples-mean*mean), 0.8, "standard deviation in seconds")
		})
	}
}

// RTY-02: however many retries, the interval neither overflows nor shrinks.
func TestRTY02NoOverflowAfterManyRetries(t *testing.T) {
	for _, p := range []backoff.Policy{
		{Initial: 500 * time.Millisecond, Max: 30 * time.Second, Jitter: backoff.None},
		{Initial: 1, Max: 24 * time.Hour, Jitter: backoff.None},
	} {
		require.NoError(t, p.Validate())
		before := time.Duration(1)
		for retry := range 5001 {
			d := p.Delay(retry)
			require.GreaterOrEqual(t, d, before, "retry %d", retry)
			require.LessOrEqual(t, d, p.Max, "retry %d", retry)
			before = d
		}
		assert.Equal(t, p.Max, p.Delay(math.MaxInt))
	}
}

// The curve is that of cenkalti/backoff, step by step.
func TestTheCurveIsThatOfTheLibrary(t *testing.T) {
	lib := curve.NewExponentialBackOff(
		curve.WithInitialInterval(70*time.Millisecond), curve.WithMultiplier(1.7), curve.WithRandomizationFactor(0),
		curve.WithMaxInterval(time.Minute), curve.WithMaxElapsedTime(0))
	ours := backoff.Policy{Initial: 70 * time.Millisecond, Multiplier: 1.7, Jitter: backoff.None}
	for retry := 1; retry < 40; retry++ {
		assert.Equal(t, lib.NextBackOff(), ours.Delay(retry), "retry %d", retry)
	}
}

func TestAnyValidPolicyStaysWithinItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := validPolicy().Draw(t, "policy")
		retry := rapid.IntRange(1, math.MaxInt-1).Draw(t, "retry")
		u := rapid.Float64Range(0, 1).Draw(t, "u")

		d := p.DelayAt(retry, u)
		assert.GreaterOrEqual(t, d, p.Min, "never below Min")
		assert.LessOrEqual(t, d, p.Max, "never above Max")
		assert.GreaterOrEqual(t, p.DelayAt(retry+1, 1), p.DelayAt(retry, 1), "the interval never shrinks")
		assert.GreaterOrEqual(t, p.DelayAt(retry, 1), d, "a larger random number never means a shorter delay")
	})
}

func validPolicy() *rapid.Generator[backoff.Policy] {
	return rapid.Custom(func(t *rapid.T) backoff.Policy {
		most := rapid.Int64Range(int64(time.Microsecond), int64(366*24*time.Hour)).Draw(t, "max")
		initial := rapid.Int64Range(1000, most).Draw(t, "initial")
		p := backoff.Policy{
			Initial:    time.Duration(initial),
			Min:        time.Duration(rapid.Int64Range(1, initial).Draw(t, "min")),
			Max:        time.Duration(most),
			Multiplier: rapid.OneOf(rapid.Just(1.0), rapid.Float64Range(1.01, 1e6)).Draw(t, "multiplier"),
			Jitter:     rapid.SampledFrom([]backoff.Jitter{backoff.Full, backoff.Equal, backoff.None}).Draw(t, "jitter"),
		}
		require.NoError(t, p.Validate())
		return p
	})
}

// What Validate refuses may still reach Delay; it must not come out negative, above Max, or only after an endless walk.
func TestAPolicyThatFailsValidateStillGivesSaneDelays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := backoff.Policy{
			Initial: time.Duration(rapid.Int64().Draw(t, "initial")), Min: time.Duration(rapid.Int64().Draw(t, "min")),
			Max: time.Duration(rapid.Int64().Draw(t, "max")), Multiplier: rapid.Float64().Draw(t, "multiplier"),
			Jitter: backoff.Jitter(rapid.Uint8().Draw(t, "jitter")),
		}
		d := p.DelayAt(rapid.Int().Draw(t, "retry"), rapid.Float64().Draw(t, "u"))
		assert.GreaterOrEqual(t, d, time.Duration(0))
		if p.Max > 0 {
			assert.LessOrEqual(t, d, p.Max)
		}
	})
}

func BenchmarkDelay(b *testing.B) {
	var p backoff.Policy
	for _, retry := range []int{1, 8, 1000} {
		b.Run(fmt.Sprint(retry), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Delay(retry)
			}
		})
	}
}
