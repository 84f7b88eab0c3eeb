package redisbudget

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

// caller is what a lane is to an account: calls that wait in order.
type caller struct {
	account budget.Account
	kick    chan struct{}
	now     func() time.Time

	mu    sync.Mutex
	told  []error
	sends []time.Time
}

// join opens the account of a key.
func join(t testing.TB, s *Store, key string, policies ...budget.Policy) *caller {
	t.Helper()
	c := &caller{kick: make(chan struct{}, 1), now: s.now}
	var err error
	c.account, err = s.Open(key, policies, c.wake, c.notify)
	require.NoError(t, err)
	t.Cleanup(c.account.Close)
	return c
}

func (c *caller) wake() {
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

func (c *caller) notify(err error) {
	c.mu.Lock()
	c.told = append(c.told, err)
	c.mu.Unlock()
}

// news is what the caller was told so far.
func (c *caller) news() []error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]error(nil), c.told...)
}

// wait blocks until a call may leave that has others behind it, takes what it costs, and reports whether that was before ctx ended.
func (c *caller) wait(ctx context.Context, cost, waiting budget.Cost) bool {
	for ctx.Err() == nil {
		now := c.now()
		at, ever := c.account.Ready(now, cost, waiting)
		if !ever {
			return false
		}
		if held := c.account.Held(); held.After(at) && !at.IsZero() {
			at = held
		}
		if !at.IsZero() && !at.After(now) {
			c.account.Take(now, cost)
			c.mu.Lock()
			c.sends = append(c.sends, now)
			c.mu.Unlock()
			return true
		}
		c.sleep(ctx, now, at)
	}
	return false
}

// sleep waits until a moment, or until something has changed; a zero moment is never.
func (c *caller) sleep(ctx context.Context, now, at time.Time) {
	d := time.Hour
	if !at.IsZero() {
		d = at.Sub(now)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.kick:
	case <-ctx.Done():
	}
}

// drain sends as much as it may until ctx ends, as if many calls waited, and says how many those were.
func (c *caller) drain(ctx context.Context) (n int) {
	for c.wait(ctx, nil, budget.Cost{budget.Requests: 64}) {
		n++
	}
	return n
}

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}
