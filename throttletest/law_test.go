package throttletest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// pauses are odd or round, since laws have edges, and seldom longer than their windows.
var pauses = rapid.Custom(func(t *rapid.T) time.Duration {
	ms := rapid.OneOf(rapid.IntRange(0, 900), rapid.SampledFrom([]int{0, 0, 100, 250, 500, 1000, 2000, 4100, 9000})).Draw(t, "ms")
	return time.Duration(ms) * time.Millisecond
})

func TestLawsAdmitWhatTheirModelsAdmit(t *testing.T) {
	for name, c := range laws() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				law, now := c.law(), dawn
				var past []taken
				for range rapid.IntRange(1, 60).Draw(t, "calls") {
					now = now.Add(pauses.Draw(t, "pause"))
					n := rapid.Int64Range(1, 3).Draw(t, "n")
					d, known := law.wait(now, float64(n))
					want := c.model(past, now, n)
					if got := known && d == 0; got != want {
						t.Fatalf("%d units at %v: law says %v, model %v; history %v", n, now.Sub(dawn), got, want, past)
					}
					if want {
						law.take(now, float64(n), &stay{end: now.Add(staying)})
						past = append(past, taken{now, n})
					}
				}
			})
		})
	}
}

func TestWaitsAreExact(t *testing.T) {
	for name, c := range laws() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				law, now := c.law(), dawn
				var past []taken
				for range rapid.IntRange(1, 40).Draw(t, "calls") {
					now = now.Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "ms")) * time.Millisecond)
					n := rapid.Int64Range(1, 3).Draw(t, "n")
					d, known := law.wait(now, float64(n))
					if !known {
						if c.model(nil, now, n) {
							t.Fatalf("%d units could be admitted, but no moment is known", n)
						}
						continue
					}
					if d > 0 && c.model(past, now.Add(d-time.Microsecond), n) {
						t.Fatalf("%d units at %v: told to wait %v, but 1 µs less is enough; history %v", n, now.Sub(dawn), d, past)
					}
					now = now.Add(d)
					if d, known := law.wait(now, float64(n)); d != 0 || !known {
						t.Fatalf("%d units: after waiting, another wait of %v", n, d)
					}
					law.take(now, float64(n), &stay{end: now.Add(staying)})
					past = append(past, taken{now, n})
				}
			})
		})
	}
}

// TestStates compares what a law tells about itself with what it does.
func TestStatesTellTheTruth(t *testing.T) {
	for name, c := range laws() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				law, now := c.law(), dawn
				for range rapid.IntRange(1, 40).Draw(t, "calls") {
					now = now.Add(time.Duration(rapid.IntRange(0, 600).Draw(t, "ms")) * time.Millisecond)
					if d, known := law.wait(now, 1); d > 0 || !known {
						continue
					}
					law.take(now, 1, &stay{end: now.Add(staying)})
					s := law.state(now)
					checkState(t, law, now, s)
				}
			})
		})
	}
}

// checkState asks one law whether the whole units that it says are left are there, and not one more.
func checkState(t *rapid.T, law law, now time.Time, s level) {
	whole := int(s.left + crumb)
	d, known := law.wait(now, float64(whole))
	if _, queue := law.(*leakyQueue); queue {
		return // a queue counts places, and a call may stand with one foot outside
	}
	if _, parts := law.(*quantised); parts {
		return // promises more than it holds, which is its point
	}
	if whole > 0 && (d > 0 || !known) {
		t.Fatalf("%d of %v are left, but they have to wait %v", whole, s.left, d)
	}
	if d, known := law.wait(now, float64(whole+1)); known && d == 0 {
		t.Fatalf("%d are left, but one more is admitted", whole)
	}
	if s.timed && (s.next < 0 || s.full < s.next) {
		t.Fatalf("next in %v, full in %v", s.next, s.full)
	}
}

func TestResetsOfALogAndABucket(t *testing.T) {
	log := SlidingLog(3, time.Minute).law()
	log.take(dawn, 1, nil)
	log.take(dawn.Add(20*time.Second), 1, nil)
	s := log.state(dawn.Add(30 * time.Second))
	assert.Equal(t, level{limit: 3, left: 1, next: 30 * time.Second, full: 50 * time.Second, timed: true, window: time.Minute}, s)

	bucket := TokenBucket(60, time.Minute, 10).law()
	bucket.take(dawn, 4, nil)
	s = bucket.state(dawn.Add(500 * time.Millisecond))
	assert.InDelta(t, 6.5, s.left, 1e-9)
	assert.Equal(t, 500*time.Millisecond, s.next)
	assert.Equal(t, 3500*time.Millisecond, s.full)
	assert.Equal(t, 10*time.Second, s.window, "ten units in ten seconds")
}

func TestAnIdleLawHasNothingToComeBack(t *testing.T) {
	for name, l := range map[string]Limit{
		"log": SlidingLog(3, time.Minute), "bucket": TokenBucket(3, time.Minute, 0), "opened": OpenedWindow(3, time.Minute),
		"counter": SlidingCounter(3, time.Minute), "queue": LeakyQueue(3, time.Minute, 2),
	} {
		s := l.law().state(dawn)
		assert.Zero(t, s.full, name)
		assert.Zero(t, s.next, name)
		assert.Equal(t, s.limit, s.left, name)
	}
}

func TestABucketOfAFractionIsFullBeforeTheNextWholeUnit(t *testing.T) {
	law := TokenBucket(1, time.Second, 2.5).law()
	law.take(dawn, 0.25, nil)
	s := law.state(dawn)
	assert.Equal(t, s.full, s.next)
}

func TestAStayThatHasNoEndHoldsItsSlot(t *testing.T) {
	slots := Concurrency(1).law()
	s := &stay{}
	slots.take(dawn, 1, s)
	_, known := slots.wait(dawn.Add(time.Hour), 1)
	assert.False(t, known)
	s.end = dawn.Add(2 * time.Hour)
	d, known := slots.wait(dawn.Add(time.Hour), 1)
	assert.True(t, known)
	assert.Equal(t, time.Hour, d)
}

func TestQuantisedPromisesMoreThanItsStepHolds(t *testing.T) {
	q := Quantised(600, time.Minute, time.Second).law()
	q.take(dawn, 10, nil)
	assert.Equal(t, 590.0, q.state(dawn).left)
	d, known := q.wait(dawn, 1)
	assert.True(t, known)
	assert.Equal(t, time.Second, d)
}

func TestQuantisedCountsRefusalsInBoth(t *testing.T) {
	q := Quantised(600, time.Minute, time.Second).law()
	q.refuse(dawn, 10)
	assert.Equal(t, 590.0, q.state(dawn).left)
	d, _ := q.wait(dawn, 1)
	assert.Equal(t, time.Second, d)
	q.refuse(dawn, 600)
	d, _ = q.wait(dawn, 1)
	assert.Equal(t, time.Minute, d)
}

func TestWindowsBeforeTheEpochAndWithLongPhases(t *testing.T) {
	early := time.Unix(-90, 0)
	assert.True(t, windowStart(early, time.Minute, 0).Equal(time.Unix(-120, 0)))
	assert.True(t, windowStart(early, time.Minute, 10*time.Minute+40*time.Second).Equal(time.Unix(-140, 0)))
}

func TestAQueueHasAsManyPlacesAsItSays(t *testing.T) {
	q := LeakyQueue(2, time.Second, 3).law()
	now := dawn
	for i, want := range []float64{4, 3, 2, 1} {
		require.Equal(t, want, q.state(now).left)
		assert.Equal(t, time.Duration(i)*500*time.Millisecond, q.take(now, 1, nil), "the time in the queue")
	}
	s := q.state(now.Add(100 * time.Millisecond))
	assert.InDelta(t, 0.2, s.left, 1e-9)
	assert.InDelta(t, 400*time.Millisecond, s.next, 1)
	assert.Equal(t, 1900*time.Millisecond, s.full)
	d, _ := q.wait(now.Add(100*time.Millisecond), 1)
	assert.InDelta(t, 400*time.Millisecond, d, 1)
}
