package job

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/llm"
)

func TestTheWindowForgetsAfterAMinute(t *testing.T) {
	var w window
	start := time.Unix(1_000_000, 0)
	for s := range 120 {
		w.add(start.Add(time.Duration(s) * time.Second))
	}
	assert.Equal(t, 60, w.count(start.Add(119*time.Second)))
	assert.Equal(t, 30, w.count(start.Add(149*time.Second)))
	assert.Zero(t, w.count(start.Add(time.Hour)))
}

// A job of any length fits into a bounded number of points, and none of what happened is lost.
func TestTheSeriesIsBounded(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	s := newSeries(start)
	const n = 100_000
	for i := range n {
		p := s.at(start.Add(time.Duration(i) * time.Second))
		p.Sent++
		p.Held += time.Second
	}
	points := s.points()
	assert.LessOrEqual(t, len(points), maxPoints)
	var sum Point
	for i, p := range points {
		assert.Equal(t, time.Duration(i)*s.step, p.Start)
		assert.Equal(t, s.step, p.Length)
		sum = sum.Join(p)
	}
	assert.Equal(t, n, sum.Sent)
	assert.Equal(t, n*time.Second, sum.Held)
}

func TestTheSeriesKeepsTheLastLimit(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	s := newSeries(start)
	s.at(start).Limit = 5
	s.at(start.Add(10*time.Second)).Sent++
	for _, p := range s.points() {
		assert.InDelta(t, 5, p.Limit, 0)
	}
	s.at(start.Add(-time.Hour)).Sent++ // a clock that steps back
	assert.Equal(t, 1, s.points()[0].Sent)
}

func TestTotalsAreACopy(t *testing.T) {
	tally := NewTally()
	now := time.Now()
	tally.ended(now, "HTTP 500", llm.Tokens{})
	tally.ended(now, "", llm.Tokens{Input: 3, Output: 4, Total: 7})
	got := tally.Totals()
	got.Causes["HTTP 500"] = 99
	assert.Equal(t, 1, tally.Totals().Causes["HTTP 500"])
	assert.Equal(t, 1, got.Answered)
	assert.Equal(t, 1, got.Failed)
	assert.Equal(t, llm.Tokens{Input: 3, Output: 4, Total: 7}, got.Tokens)
	tally.over(now)
	assert.Equal(t, now, tally.Totals().Ended)
}

func TestCausesAreBounded(t *testing.T) {
	tally := NewTally()
	for i := range 1000 {
		tally.ended(time.Now(), string(rune('a'+i)), llm.Tokens{})
	}
	causes := tally.Totals().Causes
	assert.LessOrEqual(t, len(causes), maxCauses+1)
	assert.Equal(t, 1000-maxCauses, causes["other"])
}

func TestWaitsAddUp(t *testing.T) {
	tally := NewTally()
	for range 3 {
		tally.waited(time.Now(), throttle.Result{Waited: time.Second, Held: 2 * time.Second, BackedOff: 3 * time.Second})
	}
	got := tally.Totals()
	assert.Equal(t, []time.Duration{3 * time.Second, 6 * time.Second, 9 * time.Second}, []time.Duration{got.Waited, got.Held, got.BackedOff})
}

func TestSpendStaysWithinItsCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSpend(100, 40)
		require.True(t, s.reserve(50))
		waited := make(chan bool)
		go func() { waited <- s.reserve(30) }()
		synctest.Wait() // it does not fit: 40 + 50 + 30
		s.settle(50, 10)
		assert.True(t, <-waited)
		go func() { waited <- s.reserve(30) }()
		synctest.Wait()
		s.settle(30, 30)
		assert.False(t, <-waited, "80 are used, nothing is under way, 30 more do not fit")
		assert.True(t, s.reserve(20))
	})
}

func TestSpendLetsAStoppedJobGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSpend(10, 0)
		require.True(t, s.reserve(10))
		var all sync.WaitGroup
		all.Go(func() { assert.False(t, s.reserve(1)) })
		synctest.Wait()
		s.close()
		all.Wait()
	})
}

func TestNoSpendIsNoCap(t *testing.T) {
	var s *Spend
	assert.True(t, s.reserve(1<<60))
	s.settle(1, 2)
	s.close()
}
