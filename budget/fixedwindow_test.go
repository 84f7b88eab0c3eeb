package budget_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed-18ca0a92/throttle/budget"
)

// tally counts by window of the clock, for ever.
type tally struct {
	p     budget.Policy
	count map[int64]float64
}

func newTally(p budget.Policy) tally { return tally{p, map[int64]float64{}} }

// window numbers the windows since the Unix epoch.
func (m tally) window(t time.Time) int64 { return t.UnixNano() / int64(m.p.Window) }

// into is how far t is into its window.
func (m tally) into(t time.Time) time.Duration {
	return time.Duration(t.UnixNano() % int64(m.p.Window))
}

func (m tally) take(now time.Time, n float64) { m.count[m.window(now)] += n }

func (m tally) give(now time.Time, n float64) {
	w := m.window(now)
	m.count[w] = max(0, m.count[w]-n)
}

// beyondUnixNano says whether t is too late for a tally, which ends in the year 2262.
func beyondUnixNano(t time.Time) bool { return t.Year() > 2200 }

type exactWindows struct{ tally }

func newExactWindows(p budget.Policy) model { return exactWindows{newTally(p)} }

func (m exactWindows) judge(t tester, now time.Time, n float64, d time.Duration) {
	t.Helper()
	if beyondUnixNano(now.Add(d)) {
		return
	}
	want := time.Duration(0)
	switch over := (m.count[m.window(now)] + n) / m.p.Limit; {
	case math.Abs(over-1) < 1e-14 && over != 1: // full but for a few bits: either answer is right
		return
	case over > 1:
		want = m.p.Window - m.into(now)
	}
	require.Equal(t, want, d, "%v beside %v of %v", n, m.count[m.window(now)], m.p.Limit)
}

// withoutYears leaves out policies whose windows are so long that the simulated time would end too late for a tally.
func withoutYears(g *rapid.Generator[budget.Policy]) *rapid.Generator[budget.Policy] {
	return g.Filter(func(p budget.Policy) bool { return p.Resolve().Window < 30*24*time.Hour })
}

func TestFixedWindowIsItsModel(t *testing.T) {
	againstModel(t, budget.FixedWindow, newExactWindows)
}

// At most Limit in each window of the clock, and at most twice that in any span as long.
func TestFixedWindowGuarantee(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, calls := callers(t, withoutYears(anyPolicy(budget.FixedWindow)))
		m := newTally(p)
		for _, c := range calls {
			m.take(c.at, c.n)
			require.LessOrEqual(t, m.count[m.window(c.at)], p.Limit*(1+1e-9))
		}
		require.LessOrEqual(t, mostIn(calls, p.Window), 2*p.Limit*(1+1e-9))
	})
}

// A caller who always waits uses up every window, from the first one on.
func TestFixedWindowUsesAllOfEachWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := smallPolicy(budget.FixedWindow).Draw(t, "policy")
		m := newTally(p)
		calls := greedy(t, mustNew(t, p), midnight.Add(pause(p.Window).Draw(t, "start")), 1, 10*int(p.Limit))
		for _, c := range calls {
			m.take(c.at, 1)
		}
		first := m.window(calls[0].at)
		for w := first; w < first+10; w++ {
			require.Equal(t, p.Limit, m.count[w], "window %d", w-first)
		}
	})
}

func TestFixedWindowStepByStep(t *testing.T) {
	b := mustNew(t, budget.PerMinute(10).Using(budget.FixedWindow))
	none := math.NaN()
	for i, step := range []struct {
		at   float64
		do   string
		n    float64
		due  float64 // At for n, before it is done; NaN: no moment is known
		left float64 // available afterwards
		next float64 // -1: the window is untouched
	}{
		{30, "take", 4, none, 6, 60},
		{31, "ask", 7, 60, 6, 60},
		{59, "take", 6, none, 0, 60},
		{59, "ask", 1, 60, 0, 60},
		{60, "ask", 1, 60, 10, -1}, // the edge remains the moment
		{61, "take", 1, 60, 9, 120},
		{62, "take", 4, 60, 5, 120},
		{120, "ask", 1, 60, 10, -1}, // nobody has counted in this window yet
		{120, "take", 1, 60, 9, 180},
		{121, "ask", 5, none, 9, 180}, // the window before had room for five
		{121, "ask", 6, 120, 9, 180},
		{122, "give", 8, 120, 10, -1},
		{122, "give", -25, none, 0, 180},
		{180, "ask", 10, 180, 10, -1}, // the edge forgets the debt
		{400, "take", 1, 180, 9, 420}, // the state was from before 180
		{401, "ask", 9, none, 9, 420}, // the window before was empty
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
		} else {
			assert.Equal(t, after(step.next), s.Next, "step %d: next", i)
		}
	}
}

func TestFixedWindowBeginsAtItsAnchor(t *testing.T) {
	for _, c := range []struct {
		name           string
		anchor, now    time.Time
		window         time.Duration
		wantSecondsOff float64 // until the next edge
	}{
		{"epoch", time.Time{}, after(10), time.Minute, 50},
		{"epoch, seven seconds", time.Time{}, time.Unix(7*250_000_000+3, 0), 7 * time.Second, 4},
		{"five in the morning", midnight.Add(-91 * time.Hour), after(0), 24 * time.Hour, 5 * 3600},
		{"anchor to come", midnight.Add(91*time.Hour + time.Second), after(0), 24 * time.Hour, 19*3600 + 1},
		{"another zone", time.Date(2025, 12, 1, 0, 0, 0, 0, time.FixedZone("", -5*3600)), after(0), 24 * time.Hour, 5 * 3600},
		{"before the epoch", time.Time{}, time.Unix(-30, 0), time.Minute, 30},
		{"1700 years away", time.Date(300, 1, 1, 0, 0, 10, 0, time.UTC), after(0), time.Minute, 10},
		{"just now", midnight, midnight, time.Hour, 3600},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := mustNew(t, budget.Policy{Limit: 1, Window: c.window, Algorithm: budget.FixedWindow, Anchor: c.anchor})
			b.Take(c.now, 1)
			d, _ := b.Wait(c.now, 1)
			assert.Equal(t, c.wantSecondsOff, d.Seconds())
		})
	}
}

// Units of a window that has passed are no longer counted, so there is nothing to give back.
func TestFixedWindowGivesBackWithinTheWindowOnly(t *testing.T) {
	b := mustNew(t, budget.PerMinute(10).Using(budget.FixedWindow))
	b.Take(after(59), 8)
	b.Take(after(61), 6)
	budget.GiveBack(b, after(59), after(62), 5)
	assert.Equal(t, 4.0, b.State(after(62)).Available)
	budget.GiveBack(b, after(61), after(62), 5)
	assert.Equal(t, 9.0, b.State(after(62)).Available)
	budget.GiveBack(b, after(61), after(130), 1)
	assert.Equal(t, 10.0, b.State(after(130)).Available)
}
