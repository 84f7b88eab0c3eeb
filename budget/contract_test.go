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

// What every law has to keep, whatever it counts by. Each test runs over all of them.
func forEveryLaw(t *testing.T, test func(t *testing.T, a budget.Algorithm)) {
	for _, a := range algorithms {
		t.Run(a.String(), func(t *testing.T) { test(t, a) })
	}
}

// history plays a random past into the budgets, the same into each, and returns the latest moment in it. Debts, refunds and clocks
// that step back are part of it.
func history(t *rapid.T, p budget.Policy, all ...budget.Budget) time.Time {
	now := midnight.Add(pause(p.Window).Draw(t, "start"))
	latest := now
	for range rapid.IntRange(0, 30).Draw(t, "steps") {
		now = now.Add(pause(p.Window).Draw(t, "pause"))
		if now.After(latest) {
			latest = now
		}
		n := amount(p).Draw(t, "n")
		step := rapid.IntRange(0, 9).Draw(t, "step")
		for _, b := range all {
			switch d, _ := b.Wait(now, n); {
			case step == 0:
				b.Give(now, -n)
			case step == 1:
				b.Give(now, n)
			case step == 2:
				budget.GiveBack(b, now.Add(-p.Window/3), now, n)
			case d == 0:
				b.Take(now, n)
			}
		}
		if step == 3 {
			now = now.Add(-p.Window / 2)
		}
	}
	return latest
}

func TestANewBudgetIsFull(t *testing.T) {
	forEveryLaw(t, func(t *testing.T, a budget.Algorithm) {
		b := mustNew(t, budget.PerMinute(10).Using(a))
		assert.Equal(t, budget.State{Limit: 10, Window: time.Minute, Available: 10}, b.State(midnight))
		for _, n := range []float64{1, 10} {
			d, ever := b.Wait(midnight, n)
			assert.Zero(t, d)
			assert.True(t, ever)
			at, _ := b.At(midnight, n)
			assert.Zero(t, at, "no moment is known at which %v could not leave", n)
		}
	})
}

func TestWaitIsTheTimeToAt(t *testing.T) {
	forEveryLaw(t, func(t *testing.T, a budget.Algorithm) {
		rapid.Check(t, func(t *rapid.T) {
			p := anyPolicy(a).Draw(t, "policy")
			b := mustNew(t, p)
			now := history(t, p, b)
			n := amount(p).Draw(t, "asked")
			d, ever := b.Wait(now, n)
			at, atEver := b.At(now, n)
			require.True(t, ever && atEver)
			require.Equal(t, max(0, at.Sub(now)), d)
			later, _ := b.At(now.Add(3*p.Window), n)
			require.Equal(t, at, later, "At follows from the state alone")
		})
	})
}

func TestAskingLeavesTheStateEqual(t *testing.T) {
	forEveryLaw(t, func(t *testing.T, a budget.Algorithm) {
		rapid.Check(t, func(t *rapid.T) {
			p := anyPolicy(a).Draw(t, "policy")
			asked, twin := mustNew(t, p), mustNew(t, p)
			now := history(t, p, asked, twin)
			for range 5 {
				at := now.Add(pause(p.Window).Draw(t, "when"))
				asked.Wait(at, amount(p).Draw(t, "n"))
				asked.At(at, 2*most(p))
				asked.State(at)
			}
			require.Equal(t, twin, asked)
		})
	})
}

func TestAvailableIsWhatWaitLetsPass(t *testing.T) {
	forEveryLaw(t, func(t *testing.T, a budget.Algorithm) {
		rapid.Check(t, func(t *rapid.T) {
			p := anyPolicy(a).Draw(t, "policy")
			b := mustNew(t, p)
			now := history(t, p, b)
			checkState(t, b, now, most(p))
		})
	})
}

// checkState holds a State against what Wait answers. A part in a million is left to rounding, and a microsecond of refill.
func checkState(t tester, b budget.Budget, now time.Time, most float64) {
	t.Helper()
	s := b.State(now)
	require.False(t, math.IsNaN(s.Used) || math.IsInf(s.Used, 0), "used %v", s.Used)
	require.True(t, s.Available >= 0 && s.Available <= most, "available %v", s.Available)
	require.GreaterOrEqual(t, s.Used, 0.0)
	tick := 1e-6 * (most + s.Limit/s.Window.Seconds())
	if s.Available > tick {
		d, ever := b.Wait(now, s.Available-tick)
		require.True(t, ever)
		require.LessOrEqual(t, d, time.Duration(1), "%v of %v are available", s.Available, most)
	}
	if s.Available+tick < most {
		d, _ := b.Wait(now, s.Available+tick)
		require.Positive(t, d, "only %v of %v are available", s.Available, most)
	}
	if s.Next.IsZero() {
		require.Zero(t, s.Used)
		return
	}
	require.False(t, s.Next.Before(now))
	d, _ := b.Wait(s.Next, min(math.Floor(s.Available)+1, most))
	require.Zero(t, d, "one more at %v", s.Next)
}

func TestMoreNeverLeavesSooner(t *testing.T) {
	forEveryLaw(t, func(t *testing.T, a budget.Algorithm) {
		rapid.Check(t, func(t *rapid.T) {
			p := anyPolicy(a).Draw(t, "policy")
			b := mustNew(t, p)
			now := history(t, p, b)
			m, n := amount(p).Draw(t, "m"), amount(p).Draw(t, "n")
			dm, _ := b.Wait(now, min(m, n))
			dn, _ := b.Wait(now, max(m, n))
			require.LessOrEqual(t, dm, dn)
		})
	})
}

// A rounding error's worth of units in use is no reason to wait, nor to name a moment that is past.
func TestDustIsInNobodysWay(t *testing.T) {
	forEveryLaw(t, func(t *testing.T, a budget.Algorithm) {
		if a == budget.LeakyBucket {
			return // it rounds up to a nanosecond
		}
		b := mustNew(t, budget.PerMinute(10).Of("credits").Using(a))
		b.Take(midnight, 1e-15)
		d, _ := b.Wait(midnight, 10)
		assert.LessOrEqual(t, d, time.Duration(1))
		if s := b.State(midnight); s.Used > 0 {
			assert.False(t, s.Next.Before(midnight))
		}
	})
}

// PAC-05: a call dearer than the budget is told so, and is in nobody's way.
func TestPAC05WhatNeverFitsIsSaidAtOnce(t *testing.T) {
	forEveryLaw(t, func(t *testing.T, a budget.Algorithm) {
		b := mustNew(t, budget.PerMinute(1000).Of(budget.Tokens).Using(a))
		for _, n := range []float64{2500, 1001, 1000.0001, math.Inf(1), math.NaN()} {
			d, ever := b.Wait(midnight, n)
			assert.False(t, ever, "%v", n)
			assert.Zero(t, d)
		}
		d, ever := b.Wait(midnight, 10)
		assert.True(t, ever)
		assert.Zero(t, d)
	})
}

func TestNothingIsAlwaysFree(t *testing.T) {
	forEveryLaw(t, func(t *testing.T, a budget.Algorithm) {
		b, twin := mustNew(t, budget.PerMinute(2).Using(a)), mustNew(t, budget.PerMinute(2).Using(a))
		for _, b := range []budget.Budget{b, twin} {
			b.Take(midnight, 2)
			b.Give(midnight, -1)
		}
		for _, n := range []float64{0, -1} {
			d, ever := b.Wait(midnight, n)
			assert.True(t, ever)
			assert.Zero(t, d)
			b.Take(midnight, n)
		}
		b.Take(midnight, math.NaN())
		b.Give(midnight, 0)
		b.Give(midnight, math.NaN())
		assert.Equal(t, twin.State(midnight), b.State(midnight))
	})
}

func TestWhatIsTakenAndGivenBackWasNeverTaken(t *testing.T) {
	for name, give := range map[string]func(b budget.Budget, now time.Time, n float64){
		"Give":     func(b budget.Budget, now time.Time, n float64) { b.Give(now, n) },
		"GiveBack": func(b budget.Budget, now time.Time, n float64) { budget.GiveBack(b, now, now, n) },
	} {
		forEveryLaw(t, func(t *testing.T, a budget.Algorithm) {
			rapid.Check(t, func(t *rapid.T) {
				p := smallPolicy(a).Draw(t, "policy")
				b := mustNew(t, p)
				now := history(t, p, b)
				n := amount(p).Draw(t, "n")
				if d, _ := b.Wait(now, n); d > 0 {
					now = now.Add(d)
				}
				before := b.State(now)
				b.Take(now, n)
				give(b, now, n)
				s := b.State(now)
				require.InDelta(t, before.Used, s.Used, 1e-6, name)
				require.InDelta(t, before.Available, s.Available, 1e-6, name)
			})
		})
	}
}

// An estimate that is settled at once leaves the same state as the true amount would have.
func TestSettlingConservesUnits(t *testing.T) {
	forEveryLaw(t, func(t *testing.T, a budget.Algorithm) {
		rapid.Check(t, func(t *rapid.T) {
			p := smallPolicy(a).Draw(t, "policy").Of(budget.Tokens)
			settled, exact := mustNew(t, p), mustNew(t, p)
			now := history(t, p, settled, exact)
			now = now.Add(2 * p.Window)
			estimate, actual := amount(p).Draw(t, "estimate"), amount(p).Draw(t, "actual")
			settled.Take(now, estimate)
			budget.GiveBack(settled, now, now, estimate-actual)
			exact.Take(now, actual)
			require.InDelta(t, exact.State(now).Used, settled.State(now).Used, 1e-6)
			require.InDelta(t, exact.State(now).Available, settled.State(now).Available, 1e-6)
		})
	})
}

func TestDebtKeepsEverythingInUntilItIsPaid(t *testing.T) {
	forEveryLaw(t, func(t *testing.T, a budget.Algorithm) {
		b := mustNew(t, budget.PerMinute(10).Using(a))
		b.Take(midnight, 10)
		b.Give(midnight, -5)
		s := b.State(midnight)
		assert.Equal(t, 15.0, s.Used)
		assert.Zero(t, s.Available)
		d, ever := b.Wait(midnight, 1)
		assert.True(t, ever)
		assert.Greater(t, d, 29*time.Second, "half of the limit is owed")
		assert.LessOrEqual(t, d, 2*time.Minute)
		assert.Equal(t, midnight.Add(d), s.Next)
	})
}

// More is given back than was ever taken: the budget is full, and not fuller.
func TestGivingMoreThanWasTakenFillsAndNoMore(t *testing.T) {
	forEveryLaw(t, func(t *testing.T, a budget.Algorithm) {
		b := mustNew(t, budget.PerMinute(10).Using(a))
		b.Give(midnight, 3)
		b.Take(midnight, 4)
		b.Give(midnight, 1e9)
		b.Give(midnight, math.Inf(1))
		s := b.State(midnight)
		assert.Equal(t, 10.0, s.Available)
		assert.Zero(t, s.Used)
		assert.LessOrEqual(t, mostIn(greedy(t, b, midnight, 1, 40), time.Nanosecond), 10.0)
	})
}

// PAC-07, as far as a law sees it: a moment before the latest one counts as the latest one.
func TestPAC07AClockThatStepsBackNeitherGrantsNorDestroys(t *testing.T) {
	forEveryLaw(t, func(t *testing.T, a budget.Algorithm) {
		rapid.Check(t, func(t *rapid.T) {
			p := smallPolicy(a).Draw(t, "policy")
			steady, stepping := mustNew(t, p), mustNew(t, p)
			now := midnight
			for range rapid.IntRange(1, 40).Draw(t, "calls") {
				now = now.Add(pause(p.Window).Draw(t, "pause"))
				n := amount(p).Draw(t, "n")
				d, _ := steady.Wait(now, n)
				now = now.Add(d)
				steady.Take(now, n)
				stepping.Take(now, n)

				back := now.Add(-pause(p.Window).Draw(t, "back"))
				m := amount(p).Draw(t, "m")
				steady.Take(now, m)
				stepping.Take(back, m)
				steady.Give(now, -m)
				stepping.Give(back, -m)
				steady.Give(now, n)
				stepping.Give(back, n)
				require.InDelta(t, steady.State(now).Used, stepping.State(now).Used, 1e-6)
			}
		})
	})
}

// Taken slightly before now, at the moment a call was due: as if the timer had not been late.
func TestLateTimersAreMadeUp(t *testing.T) {
	forEveryLaw(t, func(t *testing.T, a budget.Algorithm) {
		late, punctual := mustNew(t, budget.PerMinute(600).Using(a)), mustNew(t, budget.PerMinute(600).Using(a))
		want := seconds(greedy(t, punctual, midnight, 1, 2000))
		now := midnight
		var got []float64
		for range 2000 {
			d, _ := late.Wait(now, 1)
			due := now.Add(d)
			late.State(due.Add(time.Millisecond)) // the timer fires a millisecond late
			late.Take(due, 1)
			got = append(got, due.Sub(midnight).Seconds())
			now = due
		}
		assert.Equal(t, want, got)
	})
}

// PAC-06: no overflow, no NaN, whatever the rate, the burst, and however long the rest.
func TestPAC06NoOverflowAfterALongRest(t *testing.T) {
	year := 365 * 24 * time.Hour
	rests := []time.Duration{time.Millisecond, 12 * time.Hour, 30 * 24 * time.Hour, 10 * year, 200 * year}
	forEveryLaw(t, func(t *testing.T, a budget.Algorithm) {
		for _, rate := range []float64{1e-9, 0.001, 1, 1e6, 1e12} {
			for _, rest := range rests {
				p := budget.PerSecond(rate).Using(a)
				b := mustNew(t, p)
				now := midnight
				for range 4 { // the last rests end 800 years later, beyond what a Duration spans
					for range 2 {
						checkState(t, b, now, most(p))
						n := most(p)
						d, ever := b.Wait(now, n)
						require.True(t, ever)
						require.GreaterOrEqual(t, d, time.Duration(0))
						now = now.Add(d)
						b.Take(now, n)
					}
					now = now.Add(rest)
				}
				if rest > 150*year {
					d, _ := b.Wait(now, most(p))
					require.Zero(t, d, "rate %v is full again after %v", rate, rest)
				}
			}
		}
	})
}

// Time may begin anywhere, also at the zero Time.
func TestAnyMomentMayBeTheFirst(t *testing.T) {
	forEveryLaw(t, func(t *testing.T, a budget.Algorithm) {
		for _, start := range []time.Time{{}, time.Unix(0, 0), time.Unix(-1e10, 0), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)} {
			calls := greedy(t, mustNew(t, budget.PerMinute(5).Using(a)), start, 1, 50)
			lasted := between(start, calls[49].at)
			assert.GreaterOrEqual(t, lasted, 480.0, "from %v on", start)
			assert.LessOrEqual(t, lasted, 780.0, "from %v on", start)
		}
	})
}

// FuzzLaws throws any numbers at any law: no panic, no NaN, and no amount that is not there.
func FuzzLaws(f *testing.F) {
	f.Add(uint8(1), 10.0, int64(time.Second), 20.0, int64(5), 1.0, 3.0)
	f.Add(uint8(4), 1e15, int64(time.Millisecond), 0.0, int64(math.MaxInt64), 1e300, math.Inf(-1))
	f.Fuzz(func(t *testing.T, kind uint8, limit float64, window int64, burst float64, step int64, take, give float64) {
		p := budget.Policy{Limit: limit, Window: time.Duration(window), Burst: burst, Algorithm: budget.Algorithm(kind)}
		b, err := budget.New(p)
		if err != nil {
			return
		}
		now := midnight
		for range 8 {
			b.Take(now, take)
			b.Give(now, give)
			budget.GiveBack(b, now.Add(-time.Second), now, give)
			now = now.Add(time.Duration(step))
			s := b.State(now)
			require.True(t, s.Available >= 0 && s.Available <= most(p), "available %v", s.Available)
			require.False(t, math.IsNaN(s.Used) || math.IsInf(s.Used, 0), "used %v", s.Used)
			d, ever := b.Wait(now, min(1, most(p)))
			require.True(t, ever)
			require.GreaterOrEqual(t, d, time.Duration(0))
		}
	})
}
