package simulation

import (
	"testing"
	"time"

	"github.com/seed-18ca0a92/throttle/throttletest"
)

// mute is a server whose refusals do not even say when to come back.
var mute = throttletest.WithHint(throttletest.NoHint, throttletest.Usual)

// down is a time of 20 to 45 s, from 70 s after the first call on, in which the server fails or refuses every call and says nothing.
func down(status int, lasts time.Duration) throttletest.Option {
	return throttletest.WithOutage(throttletest.Outage{From: 70 * time.Second, For: lasts, Status: status})
}

// hammered shuts out for five minutes who is refused thirty times in ten seconds.
var hammered = throttletest.WithBan(throttletest.Ban{Refusals: 30, Within: 10 * time.Second, For: 5 * time.Minute})

// small is a quota of a hundred a minute, and work that fits it: what is under way when it ends for the first time are few calls, however
// many workers there are.
const (
	small     = 100
	smallWork = small*5 + small/2
)

var blindScenarios = []scenario{
	{name: "fixed window, only Retry-After", server: server(limits(throttletest.FixedWindow(quota, window))),
		calls: work, want: want{ratio: 1.01, per1000: 6.8}},
	{name: "fixed window, blind", server: server(limits(throttletest.FixedWindow(quota, window)), mute),
		calls: work, want: want{ratio: 1.01, per1000: 15}},
	{name: "sliding log, only Retry-After", server: server(limits(throttletest.SlidingLog(quota, window))),
		calls: work, want: want{ratio: 1.02, per1000: 29}},
	{name: "sliding log, blind", server: server(limits(throttletest.SlidingLog(quota, window)), mute),
		calls: work, want: want{ratio: 1.02, per1000: 29}},
	{name: "counts refusals too, only Retry-After", server: server(limits(throttletest.SlidingLog(quota, window).CountingRefusals())),
		calls: work, want: want{ratio: 1.006, per1000: 11}},
	{name: "counts refusals too, blind", server: server(limits(throttletest.SlidingLog(quota, window).CountingRefusals()), mute),
		calls: work, want: want{ratio: 1.006, per1000: 11}},
	{name: "token bucket, only Retry-After", server: server(limits(throttletest.TokenBucket(quota, window, 60))),
		calls: work, want: want{ratio: 1.01, per1000: 16}},
	{name: "token bucket, blind", server: server(limits(throttletest.TokenBucket(quota, window, 60)), mute),
		calls: work, want: want{ratio: 1.01, per1000: 16}},
	{name: "bucket of burst 1, only Retry-After", server: server(limits(throttletest.TokenBucket(300, window, 1))),
		calls: 500, want: want{ratio: 1.12, per1000: 21}},
	{name: "bucket of burst 1, blind", server: server(limits(throttletest.TokenBucket(300, window, 1)), mute),
		calls: 500, want: want{ratio: 1.07, per1000: 21}},
	{name: "concurrency, blind", server: server(limits(throttletest.Concurrency(8)), mute),
		calls: work, want: want{ratio: idleSlot * 1.04, per1000: 2.3}},
	{name: "outage, blind", server: server(limits(throttletest.TokenBucket(quota, window, 60)), mute, down(503, 45*time.Second)),
		client: patient, calls: work, want: want{ratio: 1.016, per1000: 17}},
	{name: "storm of refusals, blind", server: server(limits(throttletest.TokenBucket(quota, window, 60)), mute, down(429, 20*time.Second)),
		calls: work, want: want{ratio: 1.024, per1000: 29}},
	{name: "storm over a window, blind", server: server(limits(throttletest.FixedWindow(quota, window)), mute, down(429, 20*time.Second)),
		calls: work, want: want{ratio: 1.024, per1000: 29}},
	{name: "hammering punished, blind", server: server(limits(throttletest.FixedWindow(small, window)), mute, hammered),
		calls: smallWork, want: want{ratio: 1.01, per1000: 15}},
}

func TestBlindServersAreWorkedOut(t *testing.T) {
	t.Log(heading)
	for _, s := range blindScenarios {
		s.want.workers, s.want.jitters = everyWorkers, everyJitter
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			judge(t, s)
		})
	}
}
