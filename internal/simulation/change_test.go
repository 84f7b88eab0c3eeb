package simulation

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-18ca0a92/throttle/headers"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

// changed is when limits change in mid-run, after the first call.
const changed = 100 * time.Second

// untilFollowed is how long it takes after the change until the server lets in nine tenths of the new limit over a span.
func untilFollowed(limit float64, span time.Duration) func(figures) time.Duration {
	return func(f figures) time.Duration {
		change := f.stats.First.Add(changed)
		enough := int(.9 * limit * float64(span) / float64(window))
		for d := time.Duration(0); change.Add(d + span).Before(f.stats.Last); d += time.Second {
			if f.admitted(change.Add(d), span) >= enough {
				return d
			}
		}
		return f.stats.Last.Sub(change)
	}
}

// follow checks how soon a changed limit is followed, and how many refusals it takes in all.
func follow(time90 func(figures) time.Duration, within time.Duration, refusals int) func(*testing.T, figures) {
	return func(t *testing.T, f figures) {
		assert.LessOrEqual(t, time90(f), within, "time to 90 % of the new limit")
		assert.LessOrEqual(t, f.stats.Refused, refusals, "refusals in all")
	}
}

func tellFollowed(time90 func(figures) time.Duration) func([]figures) string {
	return func(all []figures) string {
		var sum, most time.Duration
		for _, f := range all {
			sum += time90(f)
			most = max(most, time90(f))
		}
		return fmt.Sprintf("to 90 %% of the new limit in %v, at most %v", (sum / time.Duration(len(all))).Round(time.Second), most)
	}
}

// The rise and the fall of a limit; the spans are a window, and for a bucket the time in which a few dozen calls pass.
var (
	windowRaised = untilFollowed(3*quota, window)
	windowCut    = untilFollowed(quota/3, window)
	bucketRaised = untilFollowed(3*quota, 10*time.Second)
	bucketCut    = untilFollowed(quota/3, 10*time.Second)
)

var changeScenarios = []scenario{
	{name: "limit raised threefold", server: server(limits(throttletest.FixedWindow(quota, window).ChangedTo(3*quota, changed)), told(throttletest.Announce{})),
		calls: 2 * work, want: want{ratio: 1.03, late: window, per1000: 1, check: follow(windowRaised, time.Minute, 30), note: tellFollowed(windowRaised), workers: everyWorkers[1:]}},
	{name: "limit cut to a third", server: server(limits(throttletest.FixedWindow(quota, window).ChangedTo(quota/3, changed)), told(throttletest.Announce{})),
		calls: work, want: want{ratio: 1.03, per1000: 1, check: follow(windowCut, time.Minute, 45), note: tellFollowed(windowCut), workers: everyWorkers[:2]}},
	{name: "limit cut, a crowd", server: server(limits(throttletest.FixedWindow(quota, window).ChangedTo(quota/3, changed)), told(throttletest.Announce{})),
		calls: work, want: want{ratio: 1.03, per1000: 21, check: follow(windowCut, time.Minute, 256-quota/3), note: tellFollowed(windowCut), workers: []int{256},
			short: "45: more calls than the new limit open its first window, before any answer tells of it"}},
	{name: "bucket raised threefold", server: server(limits(throttletest.TokenBucket(quota, window, 60).ChangedTo(3*quota, changed)), told(throttletest.Announce{Dialect: headers.OpenAI})),
		calls: work, want: want{ratio: 1.03, per1000: 1, check: follow(bucketRaised, time.Minute, 30), note: tellFollowed(bucketRaised), workers: everyWorkers[1:]}},
	{name: "bucket cut to a third", server: server(limits(throttletest.TokenBucket(quota, window, 60).ChangedTo(quota/3, changed)), told(throttletest.Announce{Dialect: headers.OpenAI})),
		calls: work, want: want{ratio: 1.03, per1000: 1, check: follow(bucketCut, 10*time.Second, 45), note: tellFollowed(bucketCut)}},
	{name: "small bucket cut to a tenth, no hint", server: server(limits(throttletest.TokenBucket(quota/2, window, 5).ChangedTo(quota/20, changed)), told(throttletest.Announce{Dialect: headers.OpenAI}), mute),
		calls: quota, want: want{ratio: 1.03, per1000: 10, workers: everyWorkers[1:]}},
	{name: "raised, only Retry-After", server: server(limits(throttletest.TokenBucket(quota, window, 60).ChangedTo(3*quota, changed))),
		calls: 2 * work, want: want{check: follow(bucketRaised, time.Minute, 30), per1000: 30, note: tellFollowed(bucketRaised), workers: []int{16}, jitters: []time.Duration{usualJitter}}},
	{name: "cut, only Retry-After", server: server(limits(throttletest.TokenBucket(quota, window, 60).ChangedTo(quota/3, changed))),
		calls: work, want: want{check: follow(bucketCut, time.Second, 45), per1000: 30, note: tellFollowed(bucketCut), jitters: everyJitter[:2]}},
}

func TestLimitsThatChangeAreFollowed(t *testing.T) {
	t.Log(heading)
	for _, s := range changeScenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			judge(t, s)
		})
	}
}
