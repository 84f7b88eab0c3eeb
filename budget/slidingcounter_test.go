package budget_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed-18ca0a92/throttle/budget"
)

// exactCounter is the estimate, from a tally of all windows.
type exactCounter struct{ tally }

func newExactCounter(p budget.Policy) model { return exactCounter{newTally(p)} }

func (m exactCounter) estimate(t time.Time) float64 {
	w := m.window(t)
	return m.count[w-1]*(1-float64(m.into(t))/float64(m.p.Window)) + m.count[w]
}

// judge asks the law itself at the moment that was named, and shortly before it.
func (m exactCounter) judge(t tester, now time.Time, n float64, d time.Duration) {
	t.Helper()
	if beyondUnixNano(now.Add(d)) {
		return
	}
	const bits = 1e-9
	require.LessOrEqual(t, m.estimate(now.Add(d))+n, m.p.Limit*(1+bits), "at the moment named")
	if d <= 0 {
		return
	}
	shortly := max(1, time.Duration(bits*float64(m.p.Window)))
	if before := now.Add(d - shortly); !before.Before(now) {
		require.Greater(t, m.estimate(before)+n, m.p.Limit*(1-bits), "shortly before it")
	}
}

// give takes off the current window first, then off the one before.
func (m exactCounter) give(now time.Time, n float64) {
	w := m.window(now)
	rest := max(0, n-m.count[w])
	m.tally.give(now, n)
	m.count[w-1] = max(0, m.count[w-1]-rest)
}

func TestSlidingCounterIsItsModel(t *testing.T) {
	againstModel(t, budget.SlidingCounter, newExactCounter)
}

// At most Limit in each window of the clock, and less than twice that in any span as long.
func TestSlidingCounterGuarantee(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, calls := callers(t, withoutYears(anyPolicy(budget.SlidingCounter)))
		m := newTally(p)
		for _, c := range calls {
			m.take(c.at, c.n)
			require.LessOrEqual(t, m.count[m.window(c.at)], p.Limit*(1+1e-9))
		}
		require.Less(t, mostIn(calls, p.Window), 2*p.Limit*(1+1e-9))
	})
}

// The worst case that its comment names is reached, so the guarantee cannot be said more tightly.
func TestSlidingCounterWorstCase(t *testing.T) {
	b := mustNew(t, budget.PerMinute(100).Using(budget.SlidingCounter))
	calls := greedy(t, b, after(59.9), 1, 199)
	assert.Equal(t, 199.0, mostIn(calls, time.Minute))
}

// A caller who always waits gets Limit - n per Window in the long run; if that is less than n, n in two Windows.
func TestSlidingCounterUsesAllOfItsRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := smallPolicy(budget.SlidingCounter).Draw(t, "policy")
		perWindow := max(p.Limit-1, 0.5)
		calls := greedy(t, mustNew(t, p), midnight.Add(pause(p.Window).Draw(t, "start")), 1, int(50*perWindow))
		lasted := between(calls[0].at, calls[len(calls)-1].at) / p.Window.Seconds()
		require.LessOrEqual(t, lasted, 50.0, "windows")
		require.Greater(t, lasted, 47.0, "windows")
	})
}

func TestSlidingCounterStepByStep(t *testing.T) {
	b := mustNew(t, budget.PerMinute(10).Using(budget.SlidingCounter))
	for i, step := range []struct {
		at   float64
		do   string
		n    float64
		wait float64 // for n, before it is done
		used float64 // afterwards
		next float64 // -1: nothing counts
	}{
		{30, "take", 6, 0, 6, 70},   // five fit once one of six has faded
		{45, "take", 4, 0, 10, 66},  // one in ten fades out in six seconds after the edge
		{45, "ask", 10, 75, 10, 66}, // all of it, in the whole window after
		{66, "ask", 2, 6, 9, 72},
		{66, "take", 1, 0, 10, 72},    // 9 + 1
		{90, "take", 2, 0, 8, 96},     // 5 + 1 + 2
		{96, "give", 2, 0, 5, 102},    // 4 + 1
		{96, "give", 3, 0, 3.2, 97.5}, // 8 × 0.4 + 0
		{96, "give", -12, 0, 15.2, 135},
		{240, "ask", 10, 0, 0, -1},
	} {
		now := after(step.at)
		if step.n > 0 {
			d, _ := b.Wait(now, step.n)
			assert.InDelta(t, step.wait, d.Seconds(), 1e-9, "step %d: wait", i)
		}
		switch step.do {
		case "take":
			b.Take(now, step.n)
		case "give":
			b.Give(now, step.n)
		}
		s := b.State(now)
		assert.InDelta(t, step.used, s.Used, 1e-9, "step %d: used", i)
		if step.next < 0 {
			assert.Zero(t, s.Next, "step %d: next", i)
		} else {
			assert.InDelta(t, step.next, s.Next.Sub(midnight).Seconds(), 1e-9, "step %d: next", i)
		}
	}
}

func TestSlidingCounterGivesBackToTheWindowItTookFrom(t *testing.T) {
	b := mustNew(t, budget.PerMinute(10).Using(budget.SlidingCounter))
	b.Take(after(10), 4)
	b.Take(after(60), 3)
	used := func(at float64) float64 { return b.State(after(at)).Used }
	assert.InDelta(t, 2+3, used(90), 1e-9)
	budget.GiveBack(b, after(10), after(90), 2)
	assert.InDelta(t, 1+3, used(90), 1e-9)
	budget.GiveBack(b, after(60), after(90), 2)
	assert.InDelta(t, 1+1, used(90), 1e-9)
	budget.GiveBack(b, after(10), after(130), 9)
	assert.InDelta(t, 50.0/60, used(130), 1e-9, "what was taken two windows ago no longer counts")
}
