package simulation

import (
	"testing"
	"time"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

// The work: off the step, so that a single lost slot does not cost a whole window, nor hide behind one.
const (
	quota  = 600
	window = time.Minute
	work   = quota*5 - quota/2
)

func limits(l ...throttletest.Limit) throttletest.Option { return throttletest.WithLimits(l...) }

func told(a throttletest.Announce) throttletest.Option { return throttletest.WithAnnounce(a) }

func declare(p ...budget.Policy) []throttle.Option {
	return []throttle.Option{throttle.WithPolicies(p...)}
}

func server(o ...throttletest.Option) []throttletest.Option { return o }

// everyone is all the settings that the goals are asked in.
var (
	everyWorkers = []int{1, 16, 256}
	everyJitter  = []time.Duration{3 * time.Millisecond, 10 * time.Millisecond, 60 * time.Millisecond}
)

var announcedScenarios = []scenario{
	{name: "fixed window, declared", server: server(limits(throttletest.FixedWindow(quota, window)), told(throttletest.Announce{})),
		client: declare(budget.PerMinute(quota)), calls: work, want: want{ratio: 1.02, per1000: 0.2}},
	{name: "fixed window, headers", server: server(limits(throttletest.FixedWindow(quota, window)), told(throttletest.Announce{})),
		calls: work, want: want{ratio: 1.03, per1000: 0.2}},
	{name: "fixed window, epoch, skewed", server: server(limits(throttletest.FixedWindow(quota, window)), throttletest.WithClockSkew(-3*time.Minute), told(throttletest.Announce{Dialect: headers.XRateLimitEpoch})),
		calls: work, want: want{ratio: 1.03, per1000: 0.2}},
	{name: "sliding log, headers", server: server(limits(throttletest.SlidingLog(quota, window)), told(throttletest.Announce{})),
		calls: work, want: want{ratio: 1.03, per1000: 3.5}},
	{name: "token bucket, headers", server: server(limits(throttletest.TokenBucket(quota, window, 60)), told(throttletest.Announce{Dialect: headers.OpenAI})),
		calls: work, want: want{ratio: 1.005, per1000: 0}},
	{name: "token bucket, declared", server: server(limits(throttletest.TokenBucket(quota, window, 60))),
		client: declare(budget.PerMinute(quota).WithBurst(60)), calls: work, want: want{ratio: 1.005, per1000: 0}},
	{name: "bucket of burst 1, declared", server: server(limits(throttletest.TokenBucket(60, window, 1))),
		client: declare(budget.PerMinute(60).WithBurst(1)), calls: 300, want: want{ratio: 1.04, per1000: 0}},
}

func TestAnnouncedLimitsAreUsedWhole(t *testing.T) {
	t.Log(heading)
	for _, s := range announcedScenarios {
		t.Run(s.name, func(t *testing.T) { judge(t, s) })
	}
}
