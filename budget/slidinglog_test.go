package budget_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed-18ca0a92/throttle/budget"
)

// exactLog keeps every call there ever was, and tries one moment after the other.
type exactLog struct {
	p     budget.Policy
	calls []call
}

func newExactLog(p budget.Policy) model { return &exactLog{p: p} }

func (m *exactLog) take(now time.Time, n float64) { m.calls = append(m.calls, call{now, n}) }

// give takes off the oldest calls that still count.
func (m *exactLog) give(now time.Time, n float64) {
	for i, c := range m.calls {
		if c.at.After(now.Add(-m.p.Window)) {
			off := min(n, c.n)
			m.calls[i].n -= off
			n -= off
		}
	}
}

func (m *exactLog) used(now time.Time) float64 {
	sum := 0.0
	for _, c := range m.calls {
		if c.at.After(now.Add(-m.p.Window)) {
			sum += c.n
		}
	}
	return sum
}

func (m *exactLog) judge(t tester, now time.Time, n float64, d time.Duration) {
	t.Helper()
	moments := []time.Time{now}
	for _, c := range m.calls {
		if end := c.at.Add(m.p.Window); end.After(now) {
			moments = append(moments, end)
		}
	}
	slices.SortFunc(moments, time.Time.Compare)
	for _, at := range moments {
		over := (m.used(at) + n) / m.p.Limit
		if math.Abs(over-1) < 1e-13 && over != 1 && at.Sub(now) != d {
			continue // full but for a few bits: either answer is right
		}
		if over <= 1+1e-13 {
			require.Equal(t, at.Sub(now), d, "%v beside %v of %v", n, m.used(now), m.p.Limit)
			return
		}
	}
}

func TestSlidingLogIsItsModel(t *testing.T) {
	againstModel(t, budget.SlidingLog, newExactLog)
}

func TestSlidingLogAbsorbsJitter(t *testing.T) { absorbsJitter(t, budget.SlidingLog) }

// At most Limit in any span of Window.
func TestSlidingLogGuarantee(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, calls := callers(t, anyPolicy(budget.SlidingLog))
		require.LessOrEqual(t, mostIn(calls, p.Window), p.Limit*(1+1e-13))
	})
}

// A caller who always waits gets Limit at once, and again a Window later, and so on.
func TestSlidingLogUsesAllOfItsLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := smallPolicy(budget.SlidingLog).Draw(t, "policy")
		n := rapid.IntRange(1, int(p.Limit)).Draw(t, "n")
		perWindow := int(p.Limit) / n
		for i, c := range greedy(t, mustNew(t, p), midnight, float64(n), 200) {
			require.Equal(t, midnight.Add(time.Duration(i/perWindow)*p.Window), c.at, "call %d", i)
		}
	})
}

// More calls than the log has entries: never more than Limit in any Window all the same, and units leave it late by 1/512 of it at most.
func TestSlidingLogMergesOnTheSafeSide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1200, 3000).Draw(t, "limit")
		spacing := time.Duration(rapid.Float64Range(0, 1).Draw(t, "spread") * float64(time.Minute) / float64(limit))
		b := mustNew(t, budget.PerMinute(float64(limit)))
		var calls []call
		for i := range limit {
			now := midnight.Add(time.Duration(i) * spacing)
			d, _ := b.Wait(now, 1)
			require.Zero(t, d, "call %d", i)
			b.Take(now, 1)
			calls = append(calls, call{now, 1})
		}
		calls = append(calls, greedy(t, b, calls[limit-1].at, 1, 2*limit)...)
		for i := limit; i < len(calls); i++ {
			due := calls[i-limit].at.Add(time.Minute)
			late := calls[i].at.Sub(due)
			require.GreaterOrEqual(t, late, time.Duration(0), "call %d", i)
			require.LessOrEqual(t, late, time.Minute/512+1, "call %d", i)
		}
	})
}

func TestSlidingLogRemembersLittle(t *testing.T) {
	b := mustNew(t, budget.PerSecond(1e6))
	now := midnight
	allocated := testing.AllocsPerRun(3, func() {
		for range 100_000 {
			now = now.Add(time.Microsecond)
			b.Take(now, 1)
		}
	})
	assert.LessOrEqual(t, allocated, 3.0, "once the ring has its size, nothing more is allocated")
}

func TestSlidingLogStepByStep(t *testing.T) {
	b := mustNew(t, budget.PerMinute(10))
	none := math.NaN()
	for i, step := range []struct {
		at   float64
		do   string
		n    float64
		due  float64 // At for n, before it is done; NaN: no moment is known
		left float64 // available afterwards
		next float64 // -1: nothing counts
	}{
		{0, "take", 4, none, 6, 60},
		{10, "take", 6, none, 0, 60},
		{10, "ask", 1, 60, 0, 60},
		{10, "ask", 5, 70, 0, 60},
		{60, "ask", 5, 70, 4, 70},
		{65, "take", 3, 60, 1, 70},    // at 65, but they had been there since 60
		{66, "ask", 1, 60, 1, 70},     // and so had this one
		{66, "ask", 2, 70, 1, 70},     //
		{70, "give", 2, 70, 9, 125},   // one is left of the three
		{71, "give", -20, none, 0, 0}, // 1 + 20 count
		{130, "ask", 10, 131, 0, 131},
		{131, "ask", 10, 131, 10, -1},
	} {
		now := after(step.at)
		if step.n > 0 {
			at, _ := b.At(now, step.n)
			if math.IsNaN(step.due) {
				assert.Zero(t, at, "step %d: At", i)
			} else {
				assert.Equal(t, after(step.due), at, "step %d: At", i)
			}
		}
		switch step.do {
		case "take":
			b.Take(now, step.n)
		case "give":
			b.Give(now, step.n)
		}
		s := b.State(now)
		assert.Equal(t, step.left, s.Available, "step %d: available", i)
		if step.next < 0 {
			assert.Zero(t, s.Next, "step %d: next", i)
		} else if step.next > 0 {
			assert.Equal(t, after(step.next), s.Next, "step %d: next", i)
		}
	}
}

// PAC-01: strict counting never meets a refusal of a server that counts strictly.
func TestPAC01StrictNeverExceedsAnyWindow(t *testing.T) {
	calls := greedy(t, mustNew(t, budget.PerMinute(10)), midnight, 1, 30)
	assert.Equal(t, 10.0, mostIn(calls, time.Minute))
	assert.Equal(t, 120.0, calls[29].at.Sub(midnight).Seconds())
}

// PAC-23: no window edge lets twice the limit through.
func TestPAC23NoEdgeAllowsTwiceTheLimit(t *testing.T) {
	b := mustNew(t, budget.PerMinute(10))
	calls := greedy(t, b, after(59.9), 1, 10)
	calls = append(calls, greedy(t, b, after(60.1), 1, 10)...)
	assert.Equal(t, 10.0, mostIn(calls, time.Minute))
	assert.Equal(t, 119.9, calls[10].at.Sub(midnight).Seconds())
}

// PAC-21, as far as a law sees it: a call that was never sent gives its unit back, exactly where it was taken.
func TestPAC21WhatWasNotSentIsGivenBack(t *testing.T) {
	b := mustNew(t, budget.PerMinute(10))
	for i := range 10 {
		b.Take(after(float64(i)), 1)
	}
	budget.GiveBack(b, after(5), after(20), 1)
	calls := greedy(t, b, after(20), 1, 10)
	assert.Equal(t, []float64{20, 60, 61, 62, 63, 64, 66, 67, 68, 69}, seconds(calls))
}

// An estimate that is settled when its entry has left the log has no one to take from.
func TestSlidingLogGivesBackWithinTheWindowOnly(t *testing.T) {
	b := mustNew(t, budget.PerMinute(10).Of(budget.Tokens))
	b.Take(after(0), 6)
	b.Take(after(30), 4)
	budget.GiveBack(b, after(0), after(60), 5)
	assert.Equal(t, 6.0, b.State(after(60)).Available)
	budget.GiveBack(b, after(30), after(60), 3)
	assert.Equal(t, 9.0, b.State(after(60)).Available)
	budget.GiveBack(b, after(30), after(60), 3)
	assert.Equal(t, 10.0, b.State(after(60)).Available, "no more than was taken")
}

// Give does not know when the units were taken. Taking them off the oldest entries is never too generous.
func TestSlidingLogGivesTheOldestBackFirst(t *testing.T) {
	b := mustNew(t, budget.PerMinute(10).Of(budget.Tokens))
	b.Take(after(0), 6)
	b.Take(after(30), 4)
	b.Give(after(40), 8)
	assert.Equal(t, 8.0, b.State(after(89)).Available)
	assert.Equal(t, 10.0, b.State(after(90)).Available)
}

// Fractions that add up to the limit on paper do, and millions of them do not drift.
func TestSlidingLogDoesNotDrift(t *testing.T) {
	b := mustNew(t, budget.PerSecond(0.3).Of("credits"))
	b.Take(midnight, 0.1)
	d, _ := b.Wait(midnight, 0.2)
	assert.Zero(t, d)

	b = mustNew(t, budget.PerSecond(100).Of("credits"))
	now := midnight
	for i := range 1_000_000 {
		now = now.Add(time.Millisecond)
		b.Take(now, 0.1*float64(i%2)+0.05)
	}
	b.Take(now.Add(time.Second), 0.1)
	assert.Equal(t, 0.1, b.State(now.Add(time.Second)).Used)
	d, _ = b.Wait(now.Add(time.Second), 99.9)
	assert.Zero(t, d)
}
