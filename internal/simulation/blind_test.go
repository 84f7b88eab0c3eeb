package simulation

import (
	"testing"
	"time"

	"github.com/seed-18ca0a92/throttle/throttletest"
)

// mute is a server whose refusals do not even say when to come back.
var mute = throttletest.WithHint(throttletest.NoHint, throttletest.Usual)

var blindScenarios = []scenario{
	{name: "fixed window, only Retry-After", server: server(limits(throttletest.FixedWindow(quota, window))), calls: work, want: want{ratio: 1.01, per1000: 6.8}},
	{name: "fixed window, blind", server: server(limits(throttletest.FixedWindow(quota, window)), mute), calls: work, want: want{ratio: 1.01, per1000: 15}},
	{name: "sliding log, blind", server: server(limits(throttletest.SlidingLog(quota, window)), mute), calls: work, want: want{ratio: 1.02, per1000: 29, short: "1.003: an eighth of the refusals, for a hundredth of the time"}},
	{name: "token bucket, only Retry-After", server: server(limits(throttletest.TokenBucket(quota, window, 60))), calls: work, want: want{ratio: 1.02, per1000: 16}},
	{name: "token bucket, blind", server: server(limits(throttletest.TokenBucket(quota, window, 60)), mute), calls: work, want: want{ratio: 1.02, per1000: 16}},
	{name: "concurrency, blind", server: server(limits(throttletest.Concurrency(8)), mute), calls: work, want: want{ratio: idleSlot * 1.04, per1000: 2.3}},
	{name: "hammering punished, blind", server: server(limits(throttletest.FixedWindow(quota, window)), mute,
		throttletest.WithBan(throttletest.Ban{Refusals: 30, Within: 10 * time.Second, For: 5 * time.Minute})), calls: work, want: want{ratio: 1.02, per1000: 15}},
}

func TestBlindServersAreWorkedOut(t *testing.T) {
	t.Log(heading)
	for _, s := range blindScenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			judge(t, s)
		})
	}
}
