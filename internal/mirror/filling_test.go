package mirror

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// told is an answer of a quota of 100.
func told(left float64, reset, grain time.Duration) *reading {
	return &reading{counted: true, told: left, left: left, limit: 100, timed: true, reset: reset, grain: grain}
}

func TestResetsThatGrowWithWhatIsMissingTellTheRate(t *testing.T) {
	tests := map[string]struct {
		grain time.Duration
		round func(time.Duration) time.Duration
	}{
		"exact":      {0, func(d time.Duration) time.Duration { return d }},
		"up":         {s, ceil},
		"down":       {s, func(d time.Duration) time.Duration { return d.Truncate(s) }},
		"to nearest": {s, func(d time.Duration) time.Duration { return d.Round(s) }},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			var f filling
			for missing := 1; missing <= 90; missing++ { // ten a second
				f.hear(told(100-float64(missing), c.round(time.Duration(missing)*100*ms), c.grain))
			}
			assert.True(t, f.confirmed)
			assert.LessOrEqual(t, f.atLeast, 10.0)
			assert.GreaterOrEqual(t, f.atLeast, 8.5)
			assert.GreaterOrEqual(t, f.atMost, 10-1e-9)
		})
	}
}

// What others draw is missing too, and takes its time to come back: it changes nothing.
func TestFillingDoesNotMindOthers(t *testing.T) {
	var f filling
	f.hear(told(99, 100*ms, 0))
	f.hear(told(40, 6*s, 0))
	assert.True(t, f.confirmed)
	assert.InDelta(t, 10, f.atLeast, 0.2)
}

func TestWindowsAndLogsRefuteFilling(t *testing.T) {
	for name, grain := range map[string]time.Duration{"whole seconds": s, "exact": 0} {
		t.Run(name, func(t *testing.T) {
			var f filling
			for i := range 5 { // what is missing grows, the reset does not
				f.hear(told(99-float64(i), 60*s, grain))
			}
			assert.True(t, f.refuted)
			f.hear(told(10, 90*s, grain))
			assert.False(t, f.confirmed, "for good")
		})
	}
}

func TestFillingNeedsAGrownReset(t *testing.T) {
	var f filling
	for i := range 10 {
		f.hear(told(99-float64(i), s, s)) // less than a second, all of them
	}
	assert.False(t, f.confirmed)
	assert.False(t, f.refuted)
	f.hear(told(100, s, s))
	f.hear(&reading{counted: true, left: 5, timed: true, reset: s})
	assert.Zero(t, f.missing-1, "a full bucket and an unknown limit say nothing")
}

// An empty bucket may be in debt: it takes longer to fill than what it tells to be missing.
func TestDebtDoesNotRefuteFilling(t *testing.T) {
	var f filling
	f.hear(told(90, s, 0))
	f.hear(told(20, 8*s, 0))
	f.hear(told(0, 15*s, 0))
	assert.True(t, f.confirmed)
	assert.InDelta(t, 10, f.atLeast, 0.2)
	f.hear(told(30, 7*s, 0))
	assert.False(t, f.refuted)
}

// What a call was reckoned to cost may be more than the server charged, and its milliseconds are rounded: neither speaks against one rate.
func TestFillingGoesByWhatWasTold(t *testing.T) {
	var f filling
	for i := range 10 {
		used := float64(54 * (i + 1))
		f.hear(&reading{limit: 1000, told: 1000 - used, left: 1000 - used - 4, timed: true, reset: moment(used) * ms})
	}
	assert.True(t, f.confirmed)
	assert.False(t, f.refuted)
	assert.InDelta(t, 1000, f.atLeast, 5)
	assert.InDelta(t, 1000, f.atMost, 5)
}

// A log tells each time that all is back in a day, give or take a millisecond: that is no growth, though it is more than before, and one more missing.
func TestAMillisecondMoreIsNoGrowth(t *testing.T) {
	var f filling
	f.hear(told(99, 24*time.Hour, ms))
	f.hear(told(98, 24*time.Hour+ms, ms))
	assert.False(t, f.confirmed)
}
