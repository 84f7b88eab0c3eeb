package simulation

import (
	"testing"
	"time"

	"github.com/seed-18ca0a92/throttle/headers"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

// A thousand calls a second: most answers are not read while half of the quota is left. The work takes nine seconds, of which the first call alone and
// the last answers are four hundredths.
const (
	fastQuota  = 2000
	fastWindow = 2 * time.Second
	fastWork   = fastQuota*5 - fastQuota/2
)

var fastScenarios = []scenario{
	{name: "fast window, headers", server: server(limits(throttletest.FixedWindow(fastQuota, fastWindow)), told(exact)),
		calls: fastWork, want: want{ratio: 1.06, per1000: 0.2}},
	{name: "fast bucket, headers", server: server(limits(throttletest.TokenBucket(fastQuota, fastWindow, 500)), told(throttletest.Announce{Dialect: headers.OpenAI})),
		calls: fastWork, want: want{ratio: 1.06, per1000: 0.2}},
	{name: "fast log, headers", server: server(limits(throttletest.SlidingLog(fastQuota, fastWindow)), told(throttletest.Announce{Reset: throttletest.UntilNext, Round: throttletest.Exact})),
		calls: fastWork, want: want{ratio: 1.075, per1000: 0.2}},
	{name: "fast bucket, two processes", server: server(limits(throttletest.TokenBucket(2*fastQuota, fastWindow, 1000)), told(throttletest.Announce{Dialect: headers.OpenAI})),
		processes: 2, calls: 2 * fastWork, want: want{ratio: 1.075, per1000: 3.3, jain: 0.98}},
}

func TestFastServersAreUsedWhole(t *testing.T) {
	t.Log(heading)
	for _, s := range fastScenarios {
		s.want.workers, s.want.jitters = []int{256}, []time.Duration{usualJitter}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			judge(t, s)
		})
	}
}
