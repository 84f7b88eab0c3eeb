package redisbudget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

const (
	windowLimit  = 90
	windowLength = 3 * time.Second
	windowSpan   = 2*windowLength + windowLength/5 // three windows have begun by then, however they lie
	// windowLag is what a fleet at a log can bear: a slot counts as used soon after it is over, and that is soon.
	windowLag = windowLength / 100
)

// Servers that count by windows and logs admit all that a fleet sends, and the fleet sends what they admit: in three windows, or in the even
// flow that a queue and a sliding counter come down to.
func TestFleetsAtWindowsAndLogs(t *testing.T) {
	const whole, flow = 3 * windowLimit, 2 * windowLimit
	for name, test := range map[string]struct {
		algorithm budget.Algorithm
		limit     throttletest.Limit
		admits    float64
	}{
		"auto at a log":           {budget.Auto, throttletest.SlidingLog(windowLimit, windowLength), whole},
		"fixed window":            {budget.FixedWindow, throttletest.FixedWindow(windowLimit, windowLength), whole},
		"sliding counter":         {budget.SlidingCounter, throttletest.SlidingCounter(windowLimit, windowLength), flow},
		"auto at a fixed window":  {budget.Auto, throttletest.FixedWindow(windowLimit, windowLength), whole},
		"leaky bucket at a queue": {budget.LeakyBucket, throttletest.LeakyQueue(windowLimit, windowLength, 40), flow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			policy := budget.Policy{Limit: windowLimit, Window: windowLength, Algorithm: test.algorithm}
			for try := range 3 {
				sum, refused := windowFleet(t, policy, test.limit)
				still := sum.Lag.Worst > windowLag // the machine stood still: its figures, not ours
				if still && try < 2 && (refused > 0 || float64(sum.OK) < 0.98*test.admits) {
					continue
				}
				least, most := 0.98*test.admits, 0
				if still {
					least, most = least-windowLimit, windowLimit/3
				}
				assert.GreaterOrEqual(t, float64(sum.OK), least)
				assert.LessOrEqual(t, refused, most)
				assert.Zero(t, sum.Failed, sum.Err)
				return
			}
		})
	}
}

// windowFleet lets three processes send what they may.
func windowFleet(t *testing.T, p budget.Policy, l throttletest.Limit) (sum findings, refused int) {
	all := crew(startRedis(t), 3, windowSpan)
	for i := range all {
		all[i].Callers, all[i].Policies = 8, []budget.Policy{p}
	}
	f := muster(t, l, all...)
	f.begin()
	sum = total(f.report())
	sum.Lag.Worst = max(sum.Lag.Worst, f.lag().Worst)
	refused = f.upstream.Stats().Refused
	t.Logf("refused %d, per second %v, %+v", refused, perSecond(f.arrivals()), sum)
	return sum, refused
}
