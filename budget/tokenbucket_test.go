package budget_test

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
	"pgregory.net/rapid"

	"github.com/seed-18ca0a92/throttle/budget"
)

// exactBucket is a token bucket in fractions, with no rounding at all.
type exactBucket struct {
	burst, perNano, level *big.Rat
	last                  time.Time
}

func newExactBucket(p budget.Policy) model {
	burst := new(big.Rat).SetFloat64(p.Burst)
	perNano := new(big.Rat).SetFloat64(p.Limit)
	perNano.Quo(perNano, new(big.Rat).SetInt64(int64(p.Window)))
	return &exactBucket{burst, perNano, burst, midnight}
}

func (m *exactBucket) add(now time.Time, n float64) {
	elapsed := new(big.Rat).SetInt64(int64(now.Sub(m.last)))
	level := elapsed.Mul(elapsed, m.perNano)
	level.Add(level, m.level)
	level = least(level, m.burst)
	level.Add(level, new(big.Rat).SetFloat64(n))
	m.level, m.last = least(level, m.burst), now
}

func least(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) > 0 {
		a = b
	}
	return new(big.Rat).Set(a)
}

func (m *exactBucket) take(now time.Time, n float64) { m.add(now, -n) }
func (m *exactBucket) give(now time.Time, n float64) { m.add(now, n) }

// judge allows for the rounding up to a nanosecond, and for the 53 bits of a float64 at what a full bucket and a debt of several take.
func (m *exactBucket) judge(t tester, now time.Time, n float64, d time.Duration) {
	t.Helper()
	m.add(now, 0)
	missing := new(big.Rat).SetFloat64(n)
	missing.Sub(missing, m.level)
	missing.Quo(missing, m.perNano)
	want, _ := missing.Float64()
	most, _ := new(big.Rat).Quo(m.burst, m.perNano).Float64()
	if want > math.MaxInt64/2 { // near the longest Duration
		require.Greater(t, d, time.Duration(math.MaxInt64/2-1e9))
		return
	}
	want = max(0, want)
	require.InDelta(t, want, float64(d), 2+1e-12*(most+want), "wait of %v for %v", d, n)
}

func TestTokenBucketIsItsModel(t *testing.T) {
	againstModel(t, budget.TokenBucket, newExactBucket)
}

func TestTokenBucketAbsorbsJitter(t *testing.T) { absorbsJitter(t, budget.TokenBucket) }

// At most Burst + r·t in any span t.
func TestTokenBucketGuarantee(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, calls := callers(t, anyPolicy(budget.TokenBucket))
		perSecond := p.Limit / p.Window.Seconds()
		for i := range calls {
			sum := 0.0
			for _, c := range calls[i:] {
				sum += c.n
				allowed := p.Burst + perSecond*between(calls[i].at, c.at)
				require.LessOrEqual(t, sum, allowed*(1+1e-9), "from call %d on", i)
			}
		}
	})
}

// A caller who always waits gets the burst at once, and then exactly the rate.
func TestTokenBucketUsesAllOfItsRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPolicy(budget.TokenBucket).Draw(t, "policy").Resolve()
		n := amount(p).Draw(t, "n")
		calls := greedy(t, mustNew(t, p), midnight, n, 300)
		perSecond := p.Limit / p.Window.Seconds()
		for i, c := range calls {
			want := max(0, (float64(i+1)*n-p.Burst)/perSecond)
			if want > 9e9 { // close to the 292 years of a Duration
				break
			}
			rounding := float64(i+1)*1e-9 + 1e-9*want // a full bucket does not make up for a nanosecond
			rounding += 1e-14 * p.Burst / perSecond   // nor does a sum for its last digit, which at a slow rate is a long time
			require.InDelta(t, want, c.at.Sub(midnight).Seconds(), rounding, "call %d", i)
		}
	})
}

// Whoever leaves a margin after At and has a burst to spare still gets exactly the rate: At does not lose what the margin takes.
func TestTokenBucketSustainsItsRateBehindAMargin(t *testing.T) {
	const margin = 30 * time.Millisecond
	b := mustNew(t, budget.PerSecond(40).Using(budget.TokenBucket).WithBurst(10))
	greedy(t, b, midnight, 1, 10)
	before, _ := b.At(midnight, 1)
	for range 1000 {
		b.Take(before.Add(margin), 1)
		at, _ := b.At(midnight, 1)
		require.InDelta(t, float64(25*time.Millisecond), float64(at.Sub(before)), 1)
		before = at
	}
	assert.InDelta(t, 1001.0/40, before.Sub(midnight).Seconds(), 2e-9)
}

// With a burst of one the margin is part of the gap, since a full bucket gains nothing while it waits.
func TestTokenBucketOfOneKeepsGapAndMargin(t *testing.T) {
	const margin = 30 * time.Millisecond
	b := mustNew(t, budget.PerSecond(10).WithBurst(1))
	b.Take(midnight, 1)
	for k := 1; k < 100; k++ {
		at, _ := b.At(midnight, 1)
		require.Equal(t, midnight.Add(time.Duration(k)*130*time.Millisecond-margin), at)
		b.Take(at.Add(margin), 1)
	}
}

func TestTokenBucketStepByStep(t *testing.T) {
	b := mustNew(t, budget.PerSecond(2).WithBurst(4).Of(budget.Tokens))
	for i, step := range []struct {
		at   float64 // seconds
		do   string
		n    float64
		wait float64 // for n, before it is done
		left float64 // available afterwards
		next float64 // seconds; -1: the bucket is full
	}{
		{0, "take", 1, 0, 3, 0.5},
		{0, "take", 2.5, 0, 0.5, 0.25},
		{0, "take", 0.75, 0.125, 0, 0.625}, // taken too soon: a quarter is owed
		{0.625, "ask", 2, 0.5, 1, 1.125},
		{1, "give", -10, 0, 0, 5.625}, // 1.75 were there
		{6.125, "ask", 4, 1, 2, 6.625},
		{6.5, "give", 0.25, 0, 3, 7},
		{7.5, "ask", 4, 0, 4, -1},
		{100, "ask", 4, 0, 4, -1},
		{100, "take", 4, 0, 0, 100.5},
		{100, "give", 9, 2, 4, -1},
	} {
		now := after(step.at)
		if step.n > 0 {
			d, _ := b.Wait(now, min(step.n, 4))
			assert.InDelta(t, step.wait, d.Seconds(), 1e-9, "step %d: wait", i)
		}
		switch step.do {
		case "take":
			b.Take(now, step.n)
		case "give":
			b.Give(now, step.n)
		}
		s := b.State(now)
		assert.InDelta(t, step.left, s.Available, 1e-9, "step %d: available", i)
		if step.next < 0 {
			assert.Zero(t, s.Next, "step %d: next", i)
		} else {
			assert.InDelta(t, step.next, s.Next.Sub(midnight).Seconds(), 2e-9, "step %d: next", i)
		}
	}
}

// PAC-01, second run: a token bucket lets almost twice the limit into the first window, as its comment says.
func TestPAC01TokenBucketStaysWithinBurstPlusRefill(t *testing.T) {
	b := mustNew(t, budget.PerMinute(10).WithBurst(10))
	calls := greedy(t, b, midnight, 1, 30)
	assert.LessOrEqual(t, mostIn(calls, time.Minute), 20.0)
	assert.Equal(t, 120.0, calls[29].at.Sub(midnight).Seconds())
}

// PAC-02: a burst of one means spacing, whatever the rest before; one of five means five at once and then spacing.
func TestPAC02RestEarnsNoMoreThanTheBurst(t *testing.T) {
	for _, burst := range []int{1, 5} {
		b := mustNew(t, budget.PerSecond(10).WithBurst(float64(burst)))
		b.Take(midnight, 1)
		calls := greedy(t, b, after(5), 1, 20)
		for i, gap := range gaps(calls) {
			if i < burst-1 {
				assert.Zero(t, gap, "burst %d, gap %d", burst, i)
			} else {
				assert.InDelta(t, 0.1, gap, 2e-9, "burst %d, gap %d", burst, i)
			}
		}
	}
}

// PAC-05, with debt: what is dearer than the bucket goes out as debt, and the next call pays for it.
func TestPAC05DebtIsPaidBeforeTheNextCall(t *testing.T) {
	b := mustNew(t, budget.PerMinute(1000).Of(budget.Tokens).Using(budget.TokenBucket))
	b.Give(midnight, -2500)
	d, ever := b.Wait(midnight, 10)
	assert.True(t, ever)
	assert.InDelta(t, 90.6, d.Seconds(), 1e-6)
}

// A debt of many bursts is paid off in one rest, however much of the rest lies before anybody looks.
func TestTokenBucketPaysALargeDebtInOneRest(t *testing.T) {
	for _, c := range []struct{ burst, bursts float64 }{{1, 1000}, {10, 1000}, {1 << 40, 2}} {
		b := mustNew(t, budget.PerSecond(c.burst).WithBurst(c.burst))
		b.Give(midnight, -c.bursts*c.burst)
		rest := 0.9 * c.bursts
		assert.InEpsilon(t, c.burst*(c.bursts-rest), b.State(after(rest)).Used, 1e-9)
		b.Take(after(rest), c.burst)
		at, _ := b.At(after(rest), c.burst)
		assert.InDelta(t, c.bursts+1, at.Sub(midnight).Seconds(), 1e-6)
		assert.InEpsilon(t, c.burst, b.State(at).Available, 1e-9)
	}
}

// PAC-06: the first call after any rest leaves, the bucket is never fuller than full, and call burst+1 waits for one unit.
func TestPAC06BurstsBeyond32Bits(t *testing.T) {
	for _, perSecond := range []float64{0.001, 1, 1e6, 1e12} {
		for _, burst := range []float64{1, 1e6, math.MaxInt32, 1 << 33, 1e12, 1e15} {
			for _, rest := range []time.Duration{time.Millisecond, 12 * time.Hour, 10 * 365 * 24 * time.Hour, math.MaxInt64} {
				b := mustNew(t, budget.PerSecond(perSecond).WithBurst(burst))
				b.Take(midnight, 1)
				now := midnight.Add(rest)
				if perSecond*rest.Seconds() < 1 {
					continue
				}
				assert.Equal(t, burst, b.State(now).Available)
				d, _ := b.Wait(now, 1)
				assert.Zero(t, d)
				b.Take(now, burst)
				assert.LessOrEqual(t, b.State(now).Available, burst*1e-12, "%v per second, burst %v", perSecond, burst)
				d, _ = b.Wait(now, 1)
				assert.InEpsilon(t, max(1, 1e9/perSecond), float64(d), max(0.01, burst*1e-9), "%v per second, burst %v", perSecond, burst)
			}
		}
	}
}

// PAC-08, as far as a law sees it: a better rate holds for what is missing already.
func TestPAC08ABetterRateHoldsAtOnce(t *testing.T) {
	b := mustNew(t, budget.PerMinute(1).WithBurst(1))
	b.Take(midnight, 1)
	b, err := budget.Change(b, after(2), budget.PerSecond(10).WithBurst(1))
	require.NoError(t, err)
	calls := greedy(t, b, after(2), 1, 5)
	assert.LessOrEqual(t, calls[4].at.Sub(midnight).Seconds(), 2.6)

	b, err = budget.Change(b, after(2.6), budget.PerSecond(1).WithBurst(1))
	require.NoError(t, err)
	for _, gap := range gaps(greedy(t, b, after(2.6), 1, 5)) {
		assert.GreaterOrEqual(t, gap, 0.95)
	}
}

// PAC-20: estimates are settled with real usage.
func TestPAC20EstimatesAreSettled(t *testing.T) {
	for name, c := range map[string]struct {
		estimate, actual float64
		calls            int
		want             []float64 // seconds
	}{
		"too much is given back":  {500, 100, 10, []float64{0, 0, 0, 0, 0, 0, 6, 12, 18, 24}},
		"too little becomes debt": {50, 500, 4, []float64{0, 0, 3, 33}},
		"unknown keeps":           {500, 500, 3, []float64{0, 0, 30}},
	} {
		t.Run(name, func(t *testing.T) {
			b := mustNew(t, budget.PerMinute(1000).Of(budget.Tokens).Using(budget.TokenBucket))
			var sent []call
			now := midnight
			for range c.calls {
				out := greedy(t, b, now, c.estimate, 1)
				now = out[0].at
				sent = append(sent, out...)
				budget.GiveBack(b, now, now, c.estimate-c.actual)
			}
			assert.InDeltaSlice(t, c.want, seconds(sent), 1)
		})
	}
}

// PAC-24: only what is missing is waited for.
func TestPAC24OnlyTheMissingPartIsWaitedFor(t *testing.T) {
	b := mustNew(t, budget.PerSecond(1).WithBurst(3))
	b.Take(midnight, 2)
	d, _ := b.Wait(midnight, 2)
	assert.InDelta(t, 1.0, d.Seconds(), 1e-9)
}

// Units that came back by time already are not given back once more.
func TestTokenBucketGivesBackNothingOnceItWasFull(t *testing.T) {
	b := mustNew(t, budget.PerSecond(1).WithBurst(10))
	b.Take(after(0), 5)
	b.Take(after(5), 10) // full again by then
	budget.GiveBack(b, after(0), after(6), 5)
	assert.InDelta(t, 1, b.State(after(6)).Available, 1e-9)
	budget.GiveBack(b, after(5), after(6), 5)
	assert.InDelta(t, 6, b.State(after(6)).Available, 1e-9)
}

// In whole units and without debt, it is the limiter of golang.org/x/time/rate, call by call.
func TestTokenBucketIsTheLimiterItStandsOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := smallPolicy(budget.TokenBucket).Draw(t, "policy").Resolve()
		b := mustNew(t, p)
		lim := rate.NewLimiter(rate.Limit(p.Limit/p.Window.Seconds()), int(p.Burst))
		now := midnight
		for range 100 {
			now = now.Add(pause(p.Window/8).Draw(t, "pause"))
			n := rapid.IntRange(1, int(p.Burst)).Draw(t, "n")
			r := lim.ReserveN(now, n)
			d, _ := b.Wait(now, float64(n))
			require.InDelta(t, float64(r.DelayFrom(now)), float64(d), 200, "up to a nanosecond per call")
			now = now.Add(d)
			b.Take(now, float64(n))
		}
	})
}
