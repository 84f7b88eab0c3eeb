package throttletest

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestSettledCallsCountAsIfTheyHadCostThat gives and charges at random, for the laws whose past can be rewritten: in the book of
// the model a call is then as large as it turned out, and what it cost more is a call of its own.
func TestSettledCallsCountAsIfTheyHadCostThat(t *testing.T) {
	for _, name := range []string{"fixed window", "with a phase", "opened window", "sliding log", "sliding counter", "quantised"} {
		c := laws()[name]
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				law, now := c.law(), dawn
				var past []taken
				for range rapid.IntRange(1, 50).Draw(t, "steps") {
					now = now.Add(pauses.Draw(t, "pause") + 1) // no two at once: a log knows calls by their moments
					if len(past) > 0 && rapid.Bool().Draw(t, "settle") {
						past = settleOne(t, law, now, past)
						continue
					}
					n := rapid.Int64Range(1, 3).Draw(t, "n")
					d, known := law.wait(now, float64(n))
					got := known && d == 0
					if want := c.model(past, now, n); got != want {
						t.Fatalf("%d units at %v: law says %v, model %v; history %v", n, now.Sub(dawn), got, want, past)
					}
					if got {
						law.take(now, float64(n), nil)
						past = append(past, taken{now, n})
					}
				}
			})
		})
	}
}

// settleOne corrects one call of the past by one unit, both at the law and in the book.
func settleOne(t *rapid.T, law law, now time.Time, past []taken) []taken {
	i := rapid.IntRange(0, len(past)-1).Draw(t, "call")
	if rapid.Bool().Draw(t, "more") {
		law.give(now, past[i].at, -1)
		return append(past, taken{now, 1})
	}
	if past[i].n > 0 {
		law.give(now, past[i].at, 1)
		past[i].n--
	}
	return past
}

// TestABucketIsGivenBackWhatItLacks compares with an account in whole nanounits.
func TestABucketIsGivenBackWhatItLacks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		law := TokenBucket(4, time.Second, 10).law()
		now, missing := dawn, int64(0) // in units per second times nanoseconds
		const unit = int64(time.Second)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			pause := pauses.Draw(t, "pause")
			now = now.Add(pause)
			missing = max(0, missing-4*int64(pause))
			switch n := rapid.Int64Range(-3, 3).Draw(t, "n"); {
			case n > 0:
				d, known := law.wait(now, float64(n))
				got, want := known && d == 0, missing+n*unit <= 10*unit
				if got != want {
					t.Fatalf("%d units at %v with %d missing: law says %v", n, now.Sub(dawn), missing, got)
				}
				if want {
					law.take(now, float64(n), nil)
					missing += n * unit
				}
			case rapid.Bool().Draw(t, "debt"):
				law.give(now, dawn, float64(n))
				missing -= n * unit
			default:
				law.give(now, dawn, float64(-n))
				missing = max(0, missing+n*unit)
			}
		}
	})
}

// TestAChangedLimitHoldsFromThenOn changes limits at random; the models are asked with the limit of the day.
func TestAChangedLimitHoldsFromThenOn(t *testing.T) {
	const window = 2 * time.Second
	for name, c := range map[string]struct {
		limit Limit
		model func(limit int64) model
	}{
		"fixed":   {FixedWindow(5, window), func(n int64) model { return fixedModel(n, window, 0) }},
		"opened":  {OpenedWindow(5, window), func(n int64) model { return openedModel(n, window) }},
		"log":     {SlidingLog(5, window), func(n int64) model { return logModel(n, window) }},
		"counter": {SlidingCounter(5, window), func(n int64) model { return counterModel(n, window, 0) }},
		"slots":   {Concurrency(5), slotsModel},
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				law, now, limit := c.limit.law(), dawn, int64(5)
				var past []taken
				for range rapid.IntRange(1, 60).Draw(t, "steps") {
					now = now.Add(pauses.Draw(t, "pause"))
					if rapid.IntRange(0, 9).Draw(t, "change") == 0 {
						limit = rapid.Int64Range(1, 12).Draw(t, "limit")
						law.resize(now, float64(limit))
					}
					d, known := law.wait(now, 1)
					got := known && d == 0
					if want := c.model(limit)(past, now, 1); got != want {
						t.Fatalf("at %v under %d: law says %v, model %v; history %v", now.Sub(dawn), limit, got, want, past)
					}
					if got {
						law.take(now, 1, &stay{end: now.Add(staying)})
						past = append(past, taken{now, 1})
					}
				}
			})
		})
	}
}
