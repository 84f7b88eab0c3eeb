package redisbudget

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

// What one key finds out counts for all keys of a store, and one probe at a time finds out that Redis is back.
func TestOneKeyFindsOutForAll(t *testing.T) {
	t.Parallel()
	s := startRedis(t)
	client := connect(t, s.addr)
	asks := &counter{}
	client.AddHook(asks)
	store, err := New(client, WithTimeout(300*time.Millisecond), WithProcesses(2))
	require.NoError(t, err)
	keys := make([]*caller, 20)
	for i := range keys {
		keys[i] = join(t, store, fmt.Sprint("host", i), budget.PerHour(3600).WithBurst(60))
		require.True(t, keys[i].wait(within(t, 5*time.Second), nil, nil))
	}
	told := func(n int) func() bool {
		return func() bool {
			for _, c := range keys {
				if len(c.news()) != n {
					return false
				}
			}
			return true
		}
	}
	time.Sleep(300 * time.Millisecond) // what was not used is given back
	s.pause()
	began := asks.n.Load()
	keys[0].account.Ready(time.Now(), nil, nil) // asks
	require.Eventually(t, told(1), 10*time.Second, time.Millisecond)
	for _, c := range keys {
		assert.ErrorIs(t, c.news()[0], errLate)
		assert.True(t, c.wait(within(t, 100*time.Millisecond), nil, nil), "by its share, at once")
	}
	time.Sleep(700 * time.Millisecond)
	assert.LessOrEqual(t, asks.n.Load()-began, int64(6), "probes, whatever the number of keys")
	s.resume()
	require.Eventually(t, told(2), 20*time.Second, 10*time.Millisecond)
	for _, c := range keys {
		assert.NoError(t, c.news()[1])
	}
}

// What is wrong with one key is no outage of the others.
func TestAKeyOfAnotherShapeIsAloneWithThat(t *testing.T) {
	t.Parallel()
	s := startRedis(t)
	store := s.store()
	fine := join(t, store, "fine", budget.PerSecond(100))
	odd := join(t, store, "odd", budget.PerSecond(100))
	require.True(t, fine.wait(within(t, 5*time.Second), nil, nil))
	require.True(t, odd.wait(within(t, 5*time.Second), nil, nil))
	other := join(t, s.store(), "odd", budget.PerSecond(100).Using(budget.FixedWindow))
	require.True(t, other.wait(within(t, 5*time.Second), nil, nil))
	odd.until(t, func() bool { return len(odd.news()) > 0 })
	assert.NotZero(t, fine.drain(within(t, 200*time.Millisecond)))
	assert.Empty(t, fine.news())
}

// A process that does nothing leaves Redis alone, once it has given back what it had.
func TestAnIdleProcessAsksNothing(t *testing.T) {
	t.Parallel()
	s := startRedis(t)
	client := s.client()
	asks := &counter{}
	client.AddHook(asks)
	store, err := New(client, WithTimeout(5*time.Second))
	require.NoError(t, err)
	for _, p := range []budget.Policy{budget.PerSecond(50).WithBurst(50), budget.PerSecond(50)} {
		c := join(t, store, p.String(), p)
		c.drain(within(t, 500*time.Millisecond))
	}
	time.Sleep(1500 * time.Millisecond)
	before := asks.n.Load()
	assert.Positive(t, before)
	time.Sleep(1500 * time.Millisecond)
	assert.Equal(t, before, asks.n.Load())
}

// A probe that meets a key of another shape has been answered: the other keys may ask again.
func TestAProbeThatMeetsAnOddKeyIsAnswered(t *testing.T) {
	store, err := New(unconnected(t))
	require.NoError(t, err)
	a := join(t, store, "odd", budget.PerSecond(100)).account.(*account)
	b := &store.company.breaker
	at := b.fail(midnight)
	a.mu.Lock()
	a.fail(midnight, errLate, b)
	a.mu.Unlock()
	require.True(t, b.claim(at))
	found := a.hear(&ask{}, nil, &ShapeError{}, at)
	assert.Equal(t, cameBack, found.what)
	assert.True(t, b.allows(at))
	assert.NotSame(t, b, a.outage.breaker, "and it has a breaker of its own")
}
