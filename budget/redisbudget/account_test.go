package redisbudget

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

func TestSeveralProcessesShareOneBucket(t *testing.T) {
	t.Parallel()
	s := startRedis(t)
	p := budget.PerSecond(50).WithBurst(10)
	ctx := within(t, 2*time.Second)
	var wg sync.WaitGroup
	counts := make([]int, 4)
	for i := range counts {
		c := join(t, s.store(), "host", p)
		wg.Go(func() { counts[i] = c.drain(ctx) })
	}
	wg.Wait()
	sum := 0
	for _, n := range counts {
		sum += n
	}
	assert.LessOrEqual(t, sum, 10+100+1, "%v", counts)
	assert.GreaterOrEqual(t, sum, 90, "%v", counts)
}

// seen is the state of the budgets as another process sees it, once it satisfies a condition.
func eventually(t *testing.T, s *server, key string, policies []budget.Policy, holds func(used []float64) bool) {
	t.Helper()
	l := newLaw(t, s.client(), key, policies...)
	l.script, l.names, l.opened = newScript(serverClock), namesOf("throttle:", key), true
	var used []float64
	require.Eventually(t, func() bool {
		used = used[:0]
		for _, s := range l.ask(time.Now(), &ask{}).seen {
			used = append(used, s.used)
		}
		return holds(used)
	}, 10*time.Second, 20*time.Millisecond, "%v", used)
}

func near(a, b float64) bool { return a-b < 0.5 && b-a < 0.5 }

func TestSettlingReachesAllProcesses(t *testing.T) {
	t.Parallel()
	s := startRedis(t)
	policies := []budget.Policy{budget.PerHour(100), budget.PerHour(10_000).Of(budget.Tokens)}
	c := join(t, s.store(), "host", policies...)
	require.True(t, c.wait(within(t, 5*time.Second), budget.Cost{budget.Tokens: 500}, nil))
	eventually(t, s, "host", policies, func(used []float64) bool { return near(used[0], 1) && near(used[1], 500) })
	c.account.Give(time.Now(), budget.Cost{budget.Requests: 0, budget.Tokens: 300})
	eventually(t, s, "host", policies, func(used []float64) bool { return near(used[0], 1) && near(used[1], 200) })
	c.account.Give(time.Now(), budget.Cost{budget.Requests: 0, budget.Tokens: -700})
	eventually(t, s, "host", policies, func(used []float64) bool { return near(used[0], 1) && near(used[1], 900) })
}

// A call that nothing was leased for, since it could not wait, is debt to all.
func TestABypassedCallIsCounted(t *testing.T) {
	t.Parallel()
	s := startRedis(t)
	policies := []budget.Policy{budget.PerHour(100)}
	c := join(t, s.store(), "host", policies...)
	c.account.Take(time.Now(), budget.Cost{budget.Requests: 7})
	eventually(t, s, "host", policies, func(used []float64) bool { return near(used[0], 7) })
}

func TestCloseGivesBackWhatIsInHand(t *testing.T) {
	t.Parallel()
	s := startRedis(t)
	policies := []budget.Policy{budget.PerHour(3600 * 50)}
	c := join(t, s.store(), "host", policies...)
	a := c.account.(*account)
	spent := 0.0
	require.Eventually(t, func() bool {
		require.True(t, c.wait(within(t, 5*time.Second), nil, budget.Cost{budget.Requests: 50}))
		spent++
		a.mu.Lock()
		defer a.mu.Unlock()
		return len(a.pool.slots) > 5
	}, 10*time.Second, time.Millisecond, "some slots are in hand")
	a.Close()
	a.Close()
	eventually(t, s, "host", policies, func(used []float64) bool { return near(used[0], spent) })
	n := s.client().ZCard(context.Background(), a.names.processes).Val()
	assert.Equal(t, int64(1), n, "only the process that looks is left")
}

// A process that opens a key anew, with other policies, is still there.
func TestAProcessLeavesWithItsLastAccountOfAKey(t *testing.T) {
	t.Parallel()
	s := startRedis(t)
	store := s.store()
	live := func() int64 {
		return s.client().ZCard(context.Background(), namesOf("throttle:", "host").processes).Val()
	}
	leave := func(c *caller) {
		c.account.Close()
		a := c.account.(*account)
		require.Eventually(t, func() bool {
			a.mu.Lock()
			defer a.mu.Unlock()
			return a.left && !a.busy
		}, 5*time.Second, time.Millisecond)
	}
	old := join(t, store, "host", budget.PerSecond(100))
	require.True(t, old.wait(within(t, 5*time.Second), nil, nil))
	young := join(t, store, "host", budget.PerSecond(200))
	require.True(t, young.wait(within(t, 5*time.Second), nil, nil))
	leave(old)
	assert.Equal(t, int64(1), live())
	leave(young)
	assert.Zero(t, live())
}

func TestSlotsThatNobodyWantsAreGivenBack(t *testing.T) {
	t.Parallel()
	s := startRedis(t)
	policies := []budget.Policy{budget.PerHour(3600 * 50)}
	c := join(t, s.store(), "host", policies...)
	spent := 0.0
	for range 30 {
		require.True(t, c.wait(within(t, 5*time.Second), nil, budget.Cost{budget.Requests: 50}))
		spent++
	}
	eventually(t, s, "host", policies, func(used []float64) bool { return near(used[0], spent) })
}

func TestStateIsWhatRedisSaid(t *testing.T) {
	t.Parallel()
	s := startRedis(t)
	p := budget.PerHour(100).Resolve()
	c := join(t, s.store(), "host", p)
	full := budget.State{Limit: 100, Window: time.Hour, Available: 100}
	assert.Equal(t, []budget.State{full}, c.account.State(time.Now()))
	require.True(t, c.wait(within(t, 5*time.Second), budget.Cost{budget.Requests: 40}, nil))
	st := c.account.State(time.Now())[0]
	assert.Equal(t, 40.0, st.Used)
	assert.Equal(t, 60.0, st.Available)
	assert.WithinDuration(t, time.Now().Add(time.Hour), st.Next, time.Minute)
}

func TestACostThatFitsNeverIsToldAtOnce(t *testing.T) {
	t.Parallel()
	c := join(t, startRedis(t).store(), "host", budget.PerHour(100))
	_, ever := c.account.Ready(time.Now(), budget.Cost{budget.Requests: 101}, nil)
	assert.False(t, ever)
	at, ever := c.account.Ready(time.Now(), budget.Cost{budget.Requests: 0}, nil)
	assert.True(t, ever)
	assert.False(t, at.IsZero(), "nothing may always be taken")
}

// A slot far ahead is not reserved: how long it takes is known all the same.
func TestALongWaitIsKnownAndReservesNothing(t *testing.T) {
	t.Parallel()
	s := startRedis(t)
	p := budget.PerHour(1).WithBurst(1)
	c := join(t, s.store(), "host", p)
	require.True(t, c.wait(within(t, 5*time.Second), nil, nil))
	require.Eventually(t, func() bool {
		at, ever := c.account.Ready(time.Now(), nil, nil)
		return ever && time.Until(at) > 59*time.Minute && time.Until(at) < 61*time.Minute
	}, 10*time.Second, time.Millisecond)
	eventually(t, s, "host", []budget.Policy{p}, func(used []float64) bool { return near(used[0], 1) })
}
