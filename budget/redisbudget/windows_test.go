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
			windowGoal(t, test.admits, func() (findings, int) { return windowFleet(t, policy, test.limit, windowSpan, 0, func(*server) {}) })
		})
	}
}

// While Redis is away, and when it comes back, a log remembers what was spent and when: all of each window is used, and no more.
func TestRedisIsAwayFromAFleetAtALog(t *testing.T) {
	const windows, away = 4, time.Second
	for name, happens := range map[string]func(s *server){
		"it dies":         func(s *server) { s.kill(); time.Sleep(away); s.start() },
		"it stands still": func(s *server) { s.pause(); time.Sleep(2 * away); s.resume() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			windowGoal(t, windows*windowLimit, func() (findings, int) {
				return windowFleet(t, budget.Policy{Limit: windowLimit, Window: windowLength}, throttletest.SlidingLog(windowLimit, windowLength),
					(windows-1)*windowLength+windowLength/3, 300*time.Millisecond, func(s *server) {
						time.Sleep(windowLength / 2)
						happens(s)
					})
			})
		})
	}
}

// windowGoal lets a fleet try, up to three times, to use what is admitted and no more. If the machine stands still each time, it may miss a part.
func windowGoal(t *testing.T, admits float64, try func() (sum findings, refused int)) {
	for tries := range 3 {
		sum, refused := try()
		still := sum.Lag.Worst > windowLag // the machine stood still: its figures, not ours
		if still && tries < 2 && (refused > 0 || float64(sum.OK) < 0.98*admits) {
			continue
		}
		least, most := 0.98*admits, 0
		if still {
			least, most = least-windowLimit, windowLimit/3
		}
		assert.GreaterOrEqual(t, float64(sum.OK), least)
		assert.LessOrEqual(t, refused, most)
		assert.Zero(t, sum.Failed, sum.Err)
		return
	}
}

// windowFleet lets three processes send what they may, while something happens to Redis.
func windowFleet(t *testing.T, p budget.Policy, l throttletest.Limit, span, timeout time.Duration, happens func(s *server)) (sum findings, refused int) {
	s := startRedis(t)
	all := crew(s, 3, span)
	for i := range all {
		all[i].Callers, all[i].Policies, all[i].Timeout = 8, []budget.Policy{p}, timeout
	}
	f := muster(t, l, all...)
	f.begin()
	happens(s)
	sum = total(f.report())
	sum.Lag.Worst = max(sum.Lag.Worst, f.lag().Worst)
	refused = f.upstream.Stats().Refused
	t.Logf("refused %d, per second %v, %+v", refused, perSecond(f.arrivals()), sum)
	return sum, refused
}
