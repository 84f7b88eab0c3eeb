package simulation

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

// daily is what may be called in a day; as much again is tried, with nearly a day to go until midnight.
const daily = 1000

// stops checks that nobody goes on when a day's quota is used: every further call is told so, with a typed error and within a second, whether
// it came later or was waiting; none reaches the server, but for those that found it out.
func stops(t *testing.T, f figures) {
	var empty time.Time // when the last call that was let in was answered
	for _, m := range f.calls {
		if m.err == nil && m.done.After(empty) {
			empty = m.done
		}
	}
	for _, m := range f.calls {
		if m.err == nil {
			continue
		}
		var limit *throttle.LimitError
		told := errors.As(m.err, &limit) && errors.Is(limit, throttle.ErrMaxHold) && limit.Wait > 20*time.Hour
		assert.True(t, told || m.err == statusError(429) && m.attempts == 1, "call %d: %v after %d attempts", m.index, m.err, m.attempts)
		since := m.asked
		if empty.After(since) {
			since = empty
		}
		assert.LessOrEqual(t, m.done.Sub(since), time.Second, "call %d", m.index)
	}
	assert.Equal(t, f.stats.Arrivals, f.stats.Admitted+f.stats.Refused)
}

// unhurried is the least time for what a day admits, by the workers alone. Of 256 each makes four calls, one of them alone at first, and the slowest of all
// takes more than twice as long as the mean.
func unhurried(f figures) time.Duration {
	return time.Duration(daily/f.workers) * (serviceMean + 2*oneWay + f.jitter)
}

// per is n refusals, as a figure for the table.
func per(n float64) float64 { return 1000 * n / daily }

var dailyScenarios = []scenario{
	{name: "daily quota, declared", server: server(limits(throttletest.Daily(daily))),
		client: declare(budget.PerDay(daily)), calls: 2 * daily, bound: unhurried, want: want{ratio: 1.1, crowded: 2.6, per1000: 0, lost: daily, check: stops}},
	{name: "daily quota, headers", server: server(limits(throttletest.Daily(daily)), told(throttletest.Announce{})),
		calls: 2 * daily, bound: unhurried, want: want{ratio: 1.1, crowded: 2.6, per1000: per(1), lost: daily, lostToo: daily / 100, check: stops}},
	{name: "daily and bucket, headers", server: server(limits(throttletest.TokenBucket(quota, window, 60).Named("minute"), throttletest.Daily(daily).Named("day")), told(listed)),
		calls: 2 * daily, bound: paced, want: want{ratio: 1.02, per1000: per(1), lost: daily, check: stops, workers: everyWorkers[1:]}},
	{name: "daily quota, only Retry-After", server: server(limits(throttletest.Daily(daily))),
		calls: 2 * daily, bound: unhurried, want: want{ratio: 1.3, crowded: 6.2, per1000: per(5), crowd: per(75), lost: daily, check: stops, short: "one refusal: without a header the calls that are under way find it out together"}},
}

// paced is the least time for what a day admits, behind a bucket.
func paced(figures) time.Duration { return time.Duration(float64(daily-60) / quota * float64(window)) }

func TestADayThatIsUsedUpStopsEverybody(t *testing.T) {
	t.Log(heading)
	for _, s := range dailyScenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			judge(t, s)
		})
	}
}
