package budget_test

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed-18ca0a92/throttle/budget"
)

// exactLeak is even spacing in fractions: the moment, in nanoseconds after midnight, at which the bucket is empty.
type exactLeak struct {
	perNano *big.Rat
	empty   *big.Rat
	last    *big.Rat
	bits    float64 // what rounding to a float64 may cost, in nanoseconds
}

func newExactLeak(p budget.Policy) model {
	perNano := new(big.Rat).SetFloat64(p.Limit)
	perNano.Quo(perNano, new(big.Rat).SetInt64(int64(p.Window)))
	longAgo := new(big.Rat).SetInt64(math.MinInt64)
	return &exactLeak{perNano, longAgo, longAgo, 1e-12 * float64(p.Window)}
}

func nanos(t time.Time) *big.Rat {
	s := new(big.Rat).SetInt64(t.Unix() - midnight.Unix())
	return s.Add(s.Mul(s, big.NewRat(1e9, 1)), big.NewRat(int64(t.Nanosecond()), 1))
}

// start is where a call at now begins to drain: where the one before ends, unless that is a whole nanosecond ago.
func (m *exactLeak) start(now *big.Rat) *big.Rat {
	idle := new(big.Rat).Sub(now, m.empty)
	if idle.Cmp(big.NewRat(1, 1)) < 0 {
		return m.empty
	}
	return now
}

func (m *exactLeak) time(n float64) *big.Rat {
	r := new(big.Rat).SetFloat64(n)
	return r.Quo(r, m.perNano)
}

func (m *exactLeak) take(now time.Time, n float64) {
	m.empty = new(big.Rat).Add(m.start(nanos(now)), m.time(n))
	m.last = nanos(now)
}

func (m *exactLeak) give(_ time.Time, n float64) {
	m.empty = new(big.Rat).Sub(m.empty, m.time(n))
	if m.empty.Cmp(m.last) < 0 {
		m.empty = m.last
	}
}

func (m *exactLeak) judge(t tester, now time.Time, n float64, d time.Duration) {
	t.Helper()
	want, _ := new(big.Rat).Sub(m.empty, nanos(now)).Float64()
	if want > math.MaxInt64/2 { // near the longest Duration
		require.Greater(t, d, time.Duration(math.MaxInt64/2-1e9))
		return
	}
	require.InDelta(t, max(0, want), float64(d), 1.5+m.bits, "wait of %v for %v", d, n)
}

func TestLeakyBucketIsItsModel(t *testing.T) {
	againstModel(t, budget.LeakyBucket, newExactLeak)
}

func TestLeakyBucketAbsorbsJitter(t *testing.T) { absorbsJitter(t, budget.LeakyBucket) }

// At most r·t, and the last call, in any span t.
func TestLeakyBucketGuarantee(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, calls := callers(t, anyPolicy(budget.LeakyBucket))
		perSecond := p.Limit / p.Window.Seconds()
		for i := range calls {
			before := 0.0
			for _, c := range calls[i:] {
				allowed := perSecond * (between(calls[i].at, c.at) + 1e-9)
				require.LessOrEqual(t, before, allowed*(1+1e-9), "from call %d on", i)
				before += c.n
			}
		}
	})
}

// A caller who always waits gets exactly the rate, however badly n/r fits into nanoseconds.
func TestLeakyBucketUsesAllOfItsRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPolicy(budget.LeakyBucket).Draw(t, "policy").Resolve()
		n := amount(p).Draw(t, "n")
		perSecond := p.Limit / p.Window.Seconds()
		for i, c := range greedy(t, mustNew(t, p), midnight, n, 300) {
			want := float64(i) * n / perSecond
			require.InDelta(t, want, between(midnight, c.at), 1.5e-9+1e-9*want, "call %d", i)
		}
	})
}

func TestLeakyBucketMakesUpForTheGrainOfTheClock(t *testing.T) {
	three := greedy(t, mustNew(t, budget.PerSecond(3).Using(budget.LeakyBucket)), midnight, 1, 300_001)
	assert.Equal(t, 1e5, three[300_000].at.Sub(midnight).Seconds())
	many := greedy(t, mustNew(t, budget.PerSecond(1e12).Using(budget.LeakyBucket)), midnight, 1, 100_001)
	assert.InDelta(t, 1e-7, many[100_000].at.Sub(midnight).Seconds(), 1.5e-9)
}

// PAC-02: a rest earns nothing at all.
func TestPAC02LeakyBucketNeverBursts(t *testing.T) {
	b := mustNew(t, budget.PerSecond(10).Using(budget.LeakyBucket))
	b.Take(midnight, 1)
	for i, gap := range gaps(greedy(t, b, after(5), 1, 20)) {
		assert.Equal(t, 0.1, gap, "gap %d", i)
	}
}

func TestLeakyBucketStepByStep(t *testing.T) {
	b := mustNew(t, budget.PerMinute(60).Of(budget.Tokens).Using(budget.LeakyBucket))
	for i, step := range []struct {
		at   float64
		do   string
		n    float64
		wait float64 // for n, before it is done
		used float64 // afterwards
		next float64 // -1: the bucket is empty
	}{
		{0, "take", 20, 0, 20, 20},
		{5, "ask", 60, 15, 15, 20},
		{20, "take", 1, 0, 1, 21},
		{21, "ask", 60, 0, 0, -1},
		{30, "take", 10, 0, 10, 40},
		{32, "give", 4, 8, 4, 36},    // it was six only
		{32, "give", 40, 4, 0, -1},   // none at all: as if it had not been
		{32, "take", 2, 0, 2, 34},    //
		{33, "give", -10, 1, 11, 44}, // it was twelve
		{50, "give", -5, 0, 5, 55},   // debt of an empty bucket counts from now
	} {
		now := after(step.at)
		if step.n > 0 {
			d, _ := b.Wait(now, step.n)
			assert.Equal(t, step.wait, d.Seconds(), "step %d: wait", i)
		}
		switch step.do {
		case "take":
			b.Take(now, step.n)
		case "give":
			b.Give(now, step.n)
		}
		s := b.State(now)
		assert.Equal(t, step.used, s.Used, "step %d: used", i)
		if step.next < 0 {
			assert.Zero(t, s.Next, "step %d: next", i)
			assert.Equal(t, 60.0, s.Available, "step %d: available", i)
		} else {
			assert.Equal(t, after(step.next), s.Next, "step %d: next", i)
			assert.Zero(t, s.Available, "step %d: available", i)
		}
	}
}

// The gap before the next call is the latest call's. Whether an earlier one was sent no longer matters.
func TestLeakyBucketGivesBackTheLatestCallOnly(t *testing.T) {
	b := mustNew(t, budget.PerSecond(1).Using(budget.LeakyBucket))
	b.Take(after(0), 1)
	b.Take(after(1), 1)
	budget.GiveBack(b, after(0), after(1.25), 1)
	d, _ := b.Wait(after(1.25), 1)
	assert.Equal(t, 750*time.Millisecond, d)
	budget.GiveBack(b, after(1), after(1.25), 1)
	d, _ = b.Wait(after(1.25), 1)
	assert.Zero(t, d)
}

// However much is given back, the bucket was not empty before the call that was taken last.
func TestLeakyBucketIsEmptyAtTheLatestCallAtTheEarliest(t *testing.T) {
	b := mustNew(t, budget.PerSecond(1).Using(budget.LeakyBucket))
	b.Take(after(10), 1)
	b.Give(after(10.5), 100)
	at, _ := b.At(after(11), 1)
	assert.Equal(t, after(10), at)
}
