package redisbudget

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

// DST-01: a clock of a process that is wrong changes nothing, since the server's counts alone.
func TestDST01ClocksOfProcessesDoNotMatter(t *testing.T) {
	t.Parallel()
	s := startRedis(t)
	ctx := within(t, 3*time.Second)
	var sum atomic.Int64
	var all sync.WaitGroup
	for _, skew := range []time.Duration{0, time.Hour, -5 * time.Second} {
		store := s.store()
		store.now = func() time.Time { return time.Now().Add(skew) }
		c := join(t, store, "host", budget.PerSecond(40).WithBurst(10))
		all.Go(func() { sum.Add(int64(c.drain(ctx))) })
	}
	all.Wait()
	assert.LessOrEqual(t, sum.Load(), int64(10+3*40+1))
	assert.GreaterOrEqual(t, sum.Load(), int64(100))
}

// DST-03: a script that the server has forgotten is sent again, once, and nobody notices.
func TestDST03AForgottenScriptIsSentAgain(t *testing.T) {
	t.Parallel()
	s := startRedis(t)
	verbs := &verbs{count: map[string]int{}}
	client := s.client()
	client.AddHook(verbs)
	store, err := New(client, WithTimeout(5*time.Second))
	require.NoError(t, err)
	c := join(t, store, "host", budget.PerSecond(200).WithBurst(5))
	for range 3 {
		assert.NotZero(t, c.drain(within(t, 300*time.Millisecond)))
		require.NoError(t, client.ScriptFlush(context.Background()).Err())
	}
	assert.NotZero(t, c.drain(within(t, 300*time.Millisecond)))
	assert.Empty(t, c.news())
	assert.LessOrEqual(t, verbs.of("eval"), 4, "one at the start, and one after each flush")
	assert.Greater(t, verbs.of("evalsha"), 4)
}

// verbs counts commands by their name.
type verbs struct {
	counter
	mu    sync.Mutex
	count map[string]int
}

func (v *verbs) of(name string) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.count[name]
}

func (v *verbs) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		v.mu.Lock()
		v.count[cmd.Name()]++
		v.mu.Unlock()
		return next(ctx, cmd)
	}
}

// DST-05: while Redis is away each mode does what it says, and tells it once.
func TestDST05WhileRedisIsAway(t *testing.T) {
	for _, mode := range []Outage{Share, Closed, Open} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			s := startRedis(t)
			c := join(t, s.store(WithOutage(mode), WithProcesses(3), WithTimeout(time.Second)), "host", budget.PerSecond(30).WithBurst(3))
			require.True(t, c.wait(within(t, 5*time.Second), nil, nil))
			s.kill()
			require.Eventually(t, func() bool { // it is known
				c.wait(within(t, 50*time.Millisecond), nil, nil)
				return len(c.news()) == 1
			}, 20*time.Second, 20*time.Millisecond)
			time.Sleep(1500 * time.Millisecond) // the slots in hand are over
			c.wait(within(t, 10*time.Millisecond), nil, nil)
			ctx := within(t, 2*time.Second)
			n := 0
			for n < 500 && c.wait(ctx, nil, nil) {
				n++
			}
			switch mode {
			case Share:
				assert.InDelta(t, 21, n, 7, "a third of the limit")
			case Closed:
				assert.Zero(t, n)
			case Open:
				assert.Equal(t, 500, n)
			}
			s.start()
			require.Eventually(t, func() bool {
				c.wait(within(t, 50*time.Millisecond), nil, nil)
				return len(c.news()) == 2
			}, 20*time.Second, 20*time.Millisecond)
			told := c.news()
			assert.ErrorContains(t, told[0], "redisbudget: ")
			assert.NoError(t, told[1])
			assert.InDelta(t, 30, c.drain(within(t, time.Second)), 12, "all of the limit again")
			assert.Len(t, c.news(), 2)
		})
	}
}

// DST-06: a slow Redis delays the first call by the timeout, and those after it not at all.
func TestDST06ASlowRedisDelaysNobodyForLong(t *testing.T) {
	t.Parallel()
	s := startRedis(t)
	p := startProxy(t, s.addr)
	p.set(2*time.Second, nil)
	store, err := New(connect(t, p.addr), WithTimeout(100*time.Millisecond))
	require.NoError(t, err)
	c := join(t, store, "host", budget.PerSecond(1000).WithBurst(100))
	ctx := within(t, 2*time.Second)
	for range 20 {
		require.True(t, c.wait(ctx, nil, nil), "a call of a share waits for no network")
	}
	a := c.account.(*account)
	a.mu.Lock()
	assert.LessOrEqual(t, a.asks, uint64(2), "one ask at a time")
	a.mu.Unlock()
	require.Len(t, c.news(), 1)
	assert.ErrorIs(t, c.news()[0], errLate)
}

// DST-07: every key expires, not before the budget is full again, and at most twice as late.
func TestDST07EveryKeyExpires(t *testing.T) {
	t.Parallel()
	s := startRedis(t)
	client, ctx := s.client(), context.Background()
	policies := map[string]time.Duration{} // time to be full, by key
	for name, p := range map[string]budget.Policy{
		"bucket": budget.PerMinute(1).WithBurst(10), "leaky": budget.PerMinute(1).Using(budget.LeakyBucket),
		"window": budget.PerMinute(5).Using(budget.FixedWindow), "log": budget.PerMinute(5),
	} {
		policies[name] = time.Minute
		if name == "bucket" {
			policies[name] = 10 * time.Minute
		}
		for i := range 5 { // processes that start, take one and die
			law := newLaw(t, client, name, p)
			law.script = newScript(serverClock)
			law.fields = func(q *ask) { q.process = fmt.Sprint(name, i) }
			law.opened = i > 0
			r := law.ask(time.Now(), &ask{slots: 1, need: []float64{1}, horizon: time.Hour})
			assert.InDelta(t, client.PTTL(ctx, law.names.state).Val(), r.ttl, float64(time.Second), "and says when")
		}
		for _, key := range []string{namesOf("test:", name).state, namesOf("test:", name).processes} {
			ttl := client.PTTL(ctx, key).Val()
			assert.GreaterOrEqual(t, ttl, policies[name]-time.Second, "%s %s", name, key)
			if name != "leaky" { // of which five are queued
				assert.LessOrEqual(t, ttl, 2*policies[name], "%s %s", name, key)
			}
		}
		require.Equal(t, int64(5), client.ZCard(ctx, namesOf("test:", name).processes).Val())
	}
	for _, key := range s.keys() {
		if key != "{clock}" {
			assert.Contains(t, key, "{", "no key is named after a process")
			assert.Positive(t, client.PTTL(ctx, key).Val(), key)
		}
	}
}

// DST-10: what one process learns holds all of them, at once, and a shorter hold does not shorten it.
func TestDST10AHoldOfOneProcessHoldsAll(t *testing.T) {
	t.Parallel()
	s := startRedis(t)
	var all [3]*caller
	for i := range all {
		all[i] = join(t, s.store(), "host", budget.PerSecond(50).WithBurst(5))
		require.True(t, all[i].wait(within(t, 5*time.Second), nil, nil))
	}
	ctx := within(t, 4*time.Second)
	var drains sync.WaitGroup
	for _, c := range all[1:] {
		drains.Go(func() { c.drain(ctx) })
	}
	time.Sleep(300 * time.Millisecond)
	began := time.Now()
	all[0].account.Hold(began.Add(2 * time.Second))
	require.Eventually(t, func() bool { return all[1].account.Held().After(began) && all[2].account.Held().After(began) },
		5*time.Second, time.Millisecond, "the others are told")
	told := time.Now()
	all[0].account.Hold(began.Add(time.Second))
	drains.Wait()
	for _, c := range all[1:] {
		after := 0
		for _, at := range c.sends {
			assert.False(t, at.After(told) && at.Before(began.Add(1900*time.Millisecond)), "sent %v after the hold began", at.Sub(began))
			if at.After(told) {
				after++
			}
		}
		assert.InDelta(t, 50, after, 25, "half of what the rest of the time holds, in an even flow")
	}
}

// DST-11: one step decides, so that exactly the limit is admitted, however many ask at once.
func TestDST11ExactlyTheLimitIsAdmitted(t *testing.T) {
	for _, p := range []budget.Policy{budget.PerHour(100), budget.PerHour(100).Using(budget.FixedWindow), budget.PerHour(100).WithBurst(100)} {
		key := p.Resolve().Algorithm.String()
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			s := startRedis(t)
			ctx := within(t, 3*time.Second)
			var sum atomic.Int64
			var done sync.WaitGroup
			for range 4 {
				c := join(t, s.store(), key, p)
				done.Go(func() {
					for range 50 {
						if !c.wait(ctx, nil, budget.Cost{budget.Requests: 50}) {
							return
						}
						sum.Add(1)
					}
				})
			}
			done.Wait()
			assert.Equal(t, int64(100), sum.Load())
			assert.Positive(t, s.client().PTTL(context.Background(), namesOf("throttle:", key).state).Val())
		})
	}
}

// SEC-04: what callers put into keys stays apart, stays short, and cannot be read.
func TestSEC04KeysAreHashes(t *testing.T) {
	parts := []string{"", "a{b}", "{", "}", "x:y", "x", "throttle:{00}:s", strings.Repeat("k", 10_000), "ключ", "\x00\r\n", "secret"}
	seen := map[string]bool{}
	for _, part := range parts {
		n := namesOf(strings.Repeat("p", maxPrefix), part)
		for _, name := range []string{n.state, n.processes} {
			assert.LessOrEqual(t, len(name), 128)
			assert.False(t, seen[name], part)
			seen[name] = true
			assert.Equal(t, 1, strings.Count(name, "{"))
			assert.NotContains(t, name, "secret")
		}
		tag := func(s string) string { return s[strings.Index(s, "{"):strings.Index(s, "}")] }
		assert.Equal(t, tag(n.state), tag(n.processes), "on one node of a cluster")
	}
}

// Slow but steady: 50 ms for each answer cost nothing but a later start.
func TestFiftyMillisecondsPerAnswerCostNoRate(t *testing.T) {
	t.Parallel()
	s := startRedis(t)
	p := startProxy(t, s.addr)
	p.set(50*time.Millisecond, nil)
	store, err := New(connect(t, p.addr), WithTimeout(5*time.Second))
	require.NoError(t, err)
	c := join(t, store, "host", budget.PerSecond(100).WithBurst(20))
	c.drain(within(t, time.Second))
	n := c.drain(within(t, 2*time.Second))
	assert.InDelta(t, 200, n, 25)
	assert.Empty(t, c.news())
}

// Any number of callers of one account start at most one goroutine.
func TestAnAccountTalksInOneGoroutine(t *testing.T) {
	t.Parallel()
	p := startProxy(t, startRedis(t).addr)
	p.set(300*time.Millisecond, nil)
	store, err := New(connect(t, p.addr), WithTimeout(5*time.Second))
	require.NoError(t, err)
	c := join(t, store, fmt.Sprint(rand.Int()), budget.PerSecond(10))
	a := c.account.(*account)
	for range 1000 {
		_, ever := a.Ready(time.Now(), nil, nil)
		require.True(t, ever)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	assert.LessOrEqual(t, a.asks, uint64(1))
}
