package throttletest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRefundsCountOnlyWhereTheChargeStillDoes(t *testing.T) {
	later := dawn.Add(61 * time.Second)
	for name, c := range map[string]struct {
		Limit
		soon, late float64 // left after a refund of 3 of 5 units, at once or after the window
	}{
		"fixed":   {FixedWindow(10, time.Minute), 8, 8},
		"opened":  {OpenedWindow(10, time.Minute), 8, 8},
		"log":     {SlidingLog(10, time.Minute), 8, 8},
		"counter": {SlidingCounter(10, time.Minute), 8, 8 - 2*59.0/60},
	} {
		t.Run(name, func(t *testing.T) {
			law := c.law()
			law.take(dawn, 5, nil)
			law.give(dawn, dawn, 3)
			assert.InDelta(t, c.soon, law.state(dawn).left, 1e-9)

			law = c.law()
			law.take(dawn, 5, nil)
			law.take(later, 2, nil)
			law.give(later, dawn, 3)
			assert.InDelta(t, c.late, law.state(later).left, 1e-9)
		})
	}
}

func TestABucketTakesBackWhatItCanHold(t *testing.T) {
	law := TokenBucket(10, time.Minute, 0).law()
	law.take(dawn, 5, nil)
	law.give(dawn, dawn, 3)
	assert.InDelta(t, 8, law.state(dawn).left, 1e-9)
	law.give(dawn, dawn, 3)
	assert.InDelta(t, 10, law.state(dawn).left, 1e-9)
}

func TestACounterForgetsAfterTwoWindows(t *testing.T) {
	law, later := SlidingCounter(10, time.Minute).law(), dawn.Add(125*time.Second)
	law.take(dawn, 5, nil)
	law.take(dawn.Add(61*time.Second), 4, nil)
	law.give(later, dawn, 5)
	assert.InDelta(t, 10-4*55.0/60, law.state(later).left, 1e-9)
}

func TestALogGivesBackNoMoreThanTheCallTook(t *testing.T) {
	law := SlidingLog(10, time.Minute).law()
	law.take(dawn, 2, nil)
	law.take(dawn.Add(time.Second), 5, nil)
	law.give(dawn.Add(2*time.Second), dawn, 100)
	assert.InDelta(t, 5, law.state(dawn.Add(2*time.Second)).left, 1e-9)
}

func TestDebtIsPaidBeforeAnythingIsAdmitted(t *testing.T) {
	for name, c := range map[string]struct {
		Limit
		wait time.Duration
	}{
		"fixed":   {FixedWindow(10, time.Minute), time.Minute},
		"opened":  {OpenedWindow(10, time.Minute), time.Minute},
		"log":     {SlidingLog(10, time.Minute), time.Minute},
		"counter": {SlidingCounter(10, time.Minute), time.Minute + 24*time.Second}, // 15 fade to 9 in two fifths of a minute
		"bucket":  {TokenBucket(10, time.Minute, 0), 36 * time.Second},             // 15 + 1 - 10 at one every 6 s
	} {
		law := c.law()
		law.take(dawn, 5, nil)
		law.give(dawn, dawn, -10)
		d, known := law.wait(dawn, 1)
		assert.True(t, known, name)
		assert.InDelta(t, c.wait, d, 1, name)
	}
}

func TestRefusalsThatCount(t *testing.T) {
	for name, c := range map[string]struct {
		Limit
		before, after time.Duration
	}{
		"log: the refusal itself is in the way":   {SlidingLog(1, time.Minute), time.Second, 60 * time.Second},
		"fixed: the edge comes all the same":      {FixedWindow(1, time.Minute), time.Second, time.Second},
		"bucket: what had come back is lost":      {TokenBucket(1, time.Minute, 0), time.Second, time.Minute},
		"opened: the edge comes all the same":     {OpenedWindow(1, time.Minute), time.Second, time.Second},
		"queue: a refused call does not stand in": {LeakyQueue(1, time.Minute, 0), time.Second, time.Second},
	} {
		law, now := c.law(), dawn.Add(59*time.Second)
		law.take(dawn, 1, nil)
		d, _ := law.wait(now, 1)
		require.InDelta(t, c.before, d, 1e3, name)
		law.refuse(now, 1)
		d, _ = law.wait(now, 1)
		assert.InDelta(t, c.after, d, 1e3, name)
	}
}

func TestResizing(t *testing.T) {
	for name, c := range map[string]struct {
		Limit
		left float64 // of 20, after 5 of 10 were used
	}{
		"fixed": {FixedWindow(10, time.Minute), 15}, "opened": {OpenedWindow(10, time.Minute), 15},
		"log": {SlidingLog(10, time.Minute), 15}, "counter": {SlidingCounter(10, time.Minute), 15},
		"bucket": {TokenBucket(10, time.Minute, 0), 15}, "burst of its own": {TokenBucket(10, time.Minute, 8), 3},
		"slots": {Concurrency(10), 15}, "quantised": {Quantised(10, time.Minute, 30*time.Second), 15},
		"queue": {LeakyQueue(10, time.Minute, 7), 3},
	} {
		law := c.law()
		law.take(dawn, 5, &stay{})
		law.resize(dawn, 20)
		assert.InDelta(t, c.left, law.state(dawn).left, 1e-9, name)
	}
}

func TestAQueueServesFasterAfterItsRateHasDoubled(t *testing.T) {
	q := LeakyQueue(1, time.Second, 10).law()
	for range 5 {
		q.take(dawn, 1, nil)
	}
	q.resize(dawn, 2)
	assert.Equal(t, 2500*time.Millisecond, q.take(dawn, 1, nil))
}
