package redisbudget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

// While the others come back, those who count by windows or logs wait: what they spent is told, and no more may be added. Buckets go on.
func TestSharesOfWindowsWaitForTheOthers(t *testing.T) {
	for _, p := range []budget.Policy{budget.PerSecond(10), budget.PerSecond(10).Using(budget.FixedWindow), budget.PerSecond(10).WithBurst(5)} {
		a := silent(t, p)
		a.fail(midnight, errLate, new(breaker))
		at, _ := a.Ready(millis(3000), nil, nil)
		assert.Equal(t, millis(3000), at, "%v: it is away", p)
		a.comeBack(millis(3000), time.Second)
		at, _ = a.Ready(millis(3000), nil, nil)
		if p.Burst > 0 {
			assert.Equal(t, millis(3000), at, p)
		} else {
			assert.Equal(t, millis(4000), at, p)
		}
	}
}

// A share begins with this process's part of what was spent, at the times at which it was: what a log remembers for two seconds more is not free
// before that.
func TestAShareRemembersWhenUnitsWereTaken(t *testing.T) {
	client := startRedis(t).client()
	for _, test := range []struct {
		policy budget.Policy
		want   time.Time // from when on half of the limit is free again
	}{
		{budget.Policy{Limit: 20, Window: 3 * time.Second}, millis(3000)},
		{budget.Policy{Limit: 20, Window: 3 * time.Second, Algorithm: budget.FixedWindow}, millis(3000)},
		{budget.Policy{Limit: 20, Window: 3 * time.Second, Algorithm: budget.SlidingCounter}, millis(6000)},
		{budget.Policy{Limit: 20, Window: 3 * time.Second, Burst: 20}, millis(3000)},
	} {
		a := silent(t, test.policy)
		l := newLaw(t, client, test.policy.String(), test.policy)
		l.lease(midnight, 20, 0)
		a.view.update(l.ask(millis(1000), &ask{}), millis(1000), 0)
		a.view.live = 2
		at, ever := a.shares(millis(1000))[0].At(millis(1000), 10)
		require.True(t, ever)
		assert.InDelta(t, 0, at.Sub(test.want).Seconds(), 0.05, test.policy)
	}
}
