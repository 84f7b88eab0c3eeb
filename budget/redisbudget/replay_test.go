package redisbudget

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

// lossy is a client whose every tenth answer of the script is lost after it ran, and which repeats what it may.
func lossy(t *testing.T, s *server) (client *redis.Client, ran, lost *atomic.Int64) {
	p := startProxy(t, s.addr)
	ran, lost = new(atomic.Int64), new(atomic.Int64)
	p.set(0, func(answer []byte) bool {
		if !bytes.HasPrefix(answer, []byte("*11\r\n$2\r\nok")) && !bytes.HasPrefix(answer, []byte("*13\r\n$2\r\nok")) {
			return false
		}
		drop := ran.Add(1)%10 == 4
		if drop {
			lost.Add(1)
		}
		return drop
	})
	client = redis.NewClient(&redis.Options{Addr: p.addr, MaxRetries: 5, MinRetryBackoff: time.Millisecond})
	t.Cleanup(func() { _ = client.Close() })
	return client, ran, lost
}

// slotCounter adds up the slots that were asked for in vain.
type slotCounter struct {
	counter
	lost atomic.Int64
}

func (c *slotCounter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if name := cmd.Name(); name == "evalsha" || name == "eval" {
			c.n.Add(1)
			if err != nil && !redis.HasErrorPrefix(err, "NOSCRIPT") {
				c.lost.Add(int64(cmd.Args()[4+1+8].(int)))
			}
		}
		return err
	}
}

// DST-04: an answer that is lost costs the slots that were in it, and is never asked for again.
func TestDST04ALostAnswerIsNotAskedForAgain(t *testing.T) {
	t.Parallel()
	s := startRedis(t)
	client, ran, lost := lossy(t, s)
	asks := &slotCounter{}
	client.AddHook(asks)
	store, err := New(client, WithTimeout(5*time.Second))
	require.NoError(t, err)
	p := budget.PerHour(1e6).Using(budget.FixedWindow)
	c := join(t, store, "host", p)
	ctx := within(t, 20*time.Second)
	const calls = 300
	for range calls {
		require.True(t, c.wait(ctx, nil, budget.Cost{budget.Requests: 3}), "nobody hangs")
		time.Sleep(time.Millisecond)
	}
	c.account.Close()
	require.Eventually(t, func() bool { // what was in hand is given back, should that answer arrive
		a := c.account.(*account)
		a.mu.Lock()
		defer a.mu.Unlock()
		return !a.busy
	}, 10*time.Second, time.Millisecond)
	assert.Positive(t, lost.Load())
	assert.InDelta(t, asks.n.Load(), ran.Load(), 1, "each ask ran once; the first had to send the text along")
	l := newLaw(t, s.client(), "host", p)
	l.script, l.names, l.opened = newScript(serverClock), namesOf("throttle:", "host"), true
	spent := l.ask(time.Now(), &ask{}).seen[0].used
	assert.GreaterOrEqual(t, spent, float64(calls)-0.5, "whatever left is counted")
	assert.LessOrEqual(t, spent-calls, float64(asks.lost.Load()+c.inHand()), "no more is lost than was in the lost answers")
}

// A state that is lost while processes have slots in hand: they are told, and whatever Redis grants anew it grants once.
func TestAFlushedRedisGrantsNothingTwice(t *testing.T) {
	for _, p := range []budget.Policy{budget.PerSecond(100).WithBurst(20), {Limit: 90, Window: 3 * time.Second}} {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			s := startRedis(t)
			ctx := within(t, 4700*time.Millisecond)
			var sends []time.Duration
			var mu sync.Mutex
			var all sync.WaitGroup
			began := time.Now()
			for range 3 {
				c := join(t, s.store(), "host", p)
				all.Go(func() {
					c.drain(ctx)
					mu.Lock()
					defer mu.Unlock()
					for _, at := range c.sends {
						sends = append(sends, at.Sub(began))
					}
				})
			}
			time.Sleep(1200 * time.Millisecond)
			require.NoError(t, s.client().FlushAll(context.Background()).Err())
			all.Wait()
			slices.Sort(sends)
			if p.Burst > 0 {
				assert.LessOrEqual(t, overshoot(sends, p.Limit, p.Burst), 1.0)
			} else {
				for i, at := range sends {
					assert.LessOrEqual(t, between(sends[i:], at, at+p.Window), p.Limit, "from %v on", at)
				}
			}
			assert.NotZero(t, between(sends, 2500*time.Millisecond, time.Hour), "and it does")
		})
	}
}

// inHand is the slots that were not given back, as the last words of an account were lost.
func (c *caller) inHand() int64 {
	a := c.account.(*account)
	a.mu.Lock()
	defer a.mu.Unlock()
	return int64(a.lastSize)
}
