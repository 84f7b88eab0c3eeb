package redisbudget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

// Servers that count by windows and logs admit all that a fleet sends, and the fleet sends almost all they admit. The first window may
// have begun before the fleet did.
func TestFleetsAtWindowsAndLogs(t *testing.T) {
	const limit, window, windows = 90, 3 * time.Second, 2
	for name, test := range map[string]struct {
		policy budget.Policy
		limit  throttletest.Limit
	}{
		"auto at a log":           {budget.Policy{Limit: limit, Window: window}, throttletest.SlidingLog(limit, window)},
		"fixed window":            {budget.Policy{Limit: limit, Window: window, Algorithm: budget.FixedWindow}, throttletest.FixedWindow(limit, window)},
		"sliding counter":         {budget.Policy{Limit: limit, Window: window, Algorithm: budget.SlidingCounter}, throttletest.SlidingCounter(limit, window)},
		"auto at a fixed window":  {budget.Policy{Limit: limit, Window: window}, throttletest.FixedWindow(limit, window)},
		"leaky bucket at a queue": {budget.Policy{Limit: limit, Window: window, Algorithm: budget.LeakyBucket}, throttletest.LeakyQueue(limit, window, 40)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startRedis(t)
			all := crew(s, 3, windows*window+window/5)
			for i := range all {
				all[i].Callers = 8
				all[i].Policies = []budget.Policy{test.policy}
			}
			f := muster(t, test.limit, all...)
			f.begin()
			sum := total(f.report())
			f.lag()
			t.Logf("refused %d, per second %v", f.upstream.Stats().Refused, perSecond(f.arrivals()))
			assert.LessOrEqual(t, f.upstream.Stats().Refused, 2, "no more than a loaded machine is to blame for")
			assert.GreaterOrEqual(t, float64(sum.OK), 0.85*windows*limit)
			assert.Zero(t, sum.Failed, sum.Err)
		})
	}
}
