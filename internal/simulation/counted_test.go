package simulation

import (
	"testing"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

// punished: whoever is refused ten times within ten seconds is shut out for five minutes, which no run of these could hide.
var punished = throttletest.WithBan(throttletest.Ban{Refusals: 10, Within: 10 * time.Second, For: 5 * time.Minute})

// Some servers charge a refused call like any other (OpenAI), and some shut out those who hammer. A client that is not refused meets neither,
// so the goals are those of the same servers without.
var countedScenarios = []scenario{
	{name: "counted, window, declared", server: server(limits(throttletest.FixedWindow(quota, window).CountingRefusals()), told(throttletest.Announce{}), punished),
		client: declare(budget.PerMinute(quota)), calls: work, want: want{ratio: 1.02, per1000: 0.2, wait: throughWindow}},
	{name: "counted, window, headers", server: server(limits(throttletest.FixedWindow(quota, window).CountingRefusals()), told(throttletest.Announce{}), punished),
		calls: work, want: want{ratio: 1.03, per1000: 0.2, wait: throughWindow}},
	{name: "counted, log, headers", server: server(limits(throttletest.SlidingLog(quota, window).CountingRefusals()), told(throttletest.Announce{Reset: throttletest.UntilNext}), punished),
		calls: work, want: want{ratio: 1.03, per1000: 3.5}},
	{name: "counted, log, declared", server: server(limits(throttletest.SlidingLog(quota, window).CountingRefusals()), punished),
		client: declare(budget.PerMinute(quota)), calls: work, want: want{ratio: 1.03, per1000: 0, rough: 0.4}},
	{name: "counted, bucket, declared", server: server(limits(throttletest.TokenBucket(quota, window, 60).CountingRefusals()), punished),
		client: declare(budget.PerMinute(quota).WithBurst(60)), calls: work, want: want{ratio: 1.005, per1000: 0, wait: throughBucket}},
	{name: "counted, bucket, headers", server: server(limits(throttletest.TokenBucket(quota, window, 60).CountingRefusals()), told(throttletest.Announce{Dialect: headers.OpenAI}), punished),
		calls: work, want: want{ratio: 1.005, per1000: 0}},
	{name: "counted, quantised, declared", server: server(limits(throttletest.Quantised(quota, window, time.Second).CountingRefusals()), punished),
		client: declare(budget.PerMinute(quota).Using(budget.LeakyBucket)), calls: work, want: want{ratio: 1.06, per1000: 0.1, rough: 0.2, uneven: 1.07,
			short: "missed at 60 ms, which are more than half of the time between two calls"}},
	{name: "counted, bucket, only Retry-After", server: server(limits(throttletest.TokenBucket(quota, window, 60).CountingRefusals()), hammered),
		calls: 2 * work, want: want{use: 0.985, limit: quota, per1000: 5, workers: []int{16}, jitters: everyJitter[:2]}},
}

func TestRefusalsThatCountCostNothing(t *testing.T) {
	t.Log(heading)
	for _, s := range countedScenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			judge(t, s)
		})
	}
}
