package throttle

import (
	"context"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

// perMinute is a budget of one call a minute, for tests of waiting.
var perMinute = WithPolicies(budget.PerMinute(1))

// refusal acquires, and expects to be refused in the same moment for a reason.
func refusal(t *testing.T, tr *Transport, ctx context.Context, c Call, reason error) *LimitError {
	t.Helper()
	start := time.Now()
	if c.Key == "" {
		c.Key = "k"
	}
	_, err := tr.Acquire(ctx, c)
	require.ErrorIs(t, err, reason)
	assert.Equal(t, start, time.Now(), "at once")
	var limit *LimitError
	require.ErrorAs(t, err, &limit)
	assert.Equal(t, c.Key, limit.Key)
	return limit
}

func TestWaitsThatCannotBeBorneAreRefusedAtOnce(t *testing.T) {
	in := func(t *testing.T, d time.Duration) context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), d)
		t.Cleanup(cancel)
		return ctx
	}
	for name, c := range map[string]struct {
		opts   []Option
		within time.Duration // the deadline; 0 = none
		call   Call
		reason error
		cap    time.Duration
	}{
		"the deadline is nearer":   {nil, 59 * time.Second, Call{}, context.DeadlineExceeded, 0},
		"max wait":                 {[]Option{WithMaxWait(59 * time.Second)}, 0, Call{}, ErrMaxWait, 59 * time.Second},
		"max wait of the call":     {[]Option{WithMaxWait(time.Hour)}, 0, Call{MaxWait: time.Second}, ErrMaxWait, time.Second},
		"no wait":                  {[]Option{WithMaxWait(NoWait)}, 0, Call{}, ErrMaxWait, 0},
		"no wait of the call":      {nil, 0, Call{MaxWait: NoWait}, ErrMaxWait, 0},
		"max hold":                 {[]Option{WithMaxHold(time.Minute)}, 0, Call{Key: "held"}, ErrMaxHold, time.Minute},
		"the deadline, in any way": {[]Option{WithMaxWait(61 * time.Second)}, time.Second, Call{}, context.DeadlineExceeded, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, append(c.opts, perMinute), func(t *testing.T, tr *Transport) {
				ctx := t.Context()
				if c.within > 0 {
					ctx = in(t, c.within)
				}
				wait := time.Minute
				if c.call.Key == "held" {
					wait = 10 * time.Minute
					tr.Hold("held", wait)
				} else {
					take(t, tr, Call{MaxWait: time.Minute})
				}
				limit := refusal(t, tr, ctx, c.call, c.reason)
				assert.Equal(t, wait, limit.Wait)
				assert.Equal(t, time.Now().Add(wait), limit.Until)
				assert.Equal(t, c.cap, limit.Cap)
				assert.True(t, limit.Timeout())
				assert.True(t, limit.Temporary())
				assert.Equal(t, map[bool]Cause{true: CauseHold, false: CauseBudget}[c.call.Key == "held"], limit.Cause)
			})
		})
	}
}

// A bound is inclusive: who may wait as long as it takes, waits.
func TestBoundsOfWaitingAreInclusive(t *testing.T) {
	inBubble(t, []Option{WithMaxWait(time.Minute), WithMaxHold(time.Minute), perMinute}, func(t *testing.T, tr *Transport) {
		take(t, tr, Call{})
		_, at := take(t, tr, Call{})
		assert.Equal(t, time.Minute, at)
	})
	synctest.Test(t, func(t *testing.T) { // also where the margin for the network comes on top
		s := newServer(always)
		s.latency = 30 * time.Millisecond
		c, _ := client(t, s, WithMaxHold(time.Minute), perMinute)
		flood(t, c, 2, api)
		assert.Greater(t, s.times()[1], time.Minute)
	})
}

// What is queued ahead counts: five a second, so the hundredth that waits has twenty seconds before it.
func TestWaitBehindOthersIsForeseen(t *testing.T) {
	for name, p := range map[string]budget.Policy{
		"bucket": budget.PerSecond(5).WithBurst(1), "log": budget.PerSecond(5), "spacing": budget.PerSecond(5).Using(budget.LeakyBucket),
		"window": budget.PerSecond(5).Using(budget.FixedWindow), "counter": budget.PerSecond(5).Using(budget.SlidingCounter),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, []Option{WithPolicies(p)}, func(t *testing.T, tr *Transport) {
				next := race(t, tr, 100, Call{})
				time.Sleep(time.Nanosecond)
				limit := refusal(t, tr, t.Context(), Call{MaxWait: 10 * time.Second}, ErrMaxWait)
				assert.LessOrEqual(t, limit.Wait, 20*time.Second, "a lower bound")
				assert.Greater(t, limit.Wait, 17*time.Second)
				assert.Equal(t, 10*time.Second, limit.Cap)
				take(t, tr, Call{MaxWait: 10 * time.Second, Priority: 1}) // nobody is ahead of this one
				for range 100 {
					next()
				}
				assert.GreaterOrEqual(t, time.Since(epoch), limit.Wait)
			})
		})
	}
}

// A wait whose end cannot be foreseen is bounded by max wait all the same.
func TestMaxWaitEndsAWaitForASlot(t *testing.T) {
	inBubble(t, []Option{WithMaxInFlight(1)}, func(t *testing.T, tr *Transport) {
		p, _ := take(t, tr, Call{})
		_, err := tr.Acquire(t.Context(), Call{Key: "k", MaxWait: 3 * time.Second})
		require.ErrorIs(t, err, ErrMaxWait)
		assert.Equal(t, 3*time.Second, time.Since(epoch))
		var limit *LimitError
		require.ErrorAs(t, err, &limit)
		assert.Equal(t, CauseInFlight, limit.Cause)
		limit = refusal(t, tr, t.Context(), Call{MaxWait: NoWait}, ErrMaxWait)
		assert.Equal(t, CauseInFlight, limit.Cause)
		p.Done()
		take(t, tr, Call{MaxWait: NoWait})
	})
}

func TestMaxQueue(t *testing.T) {
	inBubble(t, []Option{WithMaxQueue(10), WithPolicies(budget.PerSecond(1).WithBurst(1))}, func(t *testing.T, tr *Transport) {
		left, refused := 0, 0
		var wg sync.WaitGroup
		var mu sync.Mutex
		for range 1000 {
			wg.Go(func() {
				_, err := tr.Acquire(t.Context(), Call{Key: "k"})
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					left++
					return
				}
				assert.ErrorIs(t, err, ErrQueueFull)
				refused++
			})
		}
		time.Sleep(time.Second / 2)
		mu.Lock()
		assert.Equal(t, 989, refused)
		assert.Equal(t, 1, left)
		mu.Unlock()
		wg.Wait()
		assert.Equal(t, 11, left)
		assert.Equal(t, 10*time.Second, time.Since(epoch))
	})
}

// CTX-01 and CTX-06: a dead context takes nothing, and ends a wait at once.
func TestCancelledCallsTakeNothing(t *testing.T) {
	inBubble(t, []Option{WithPolicies(budget.PerHour(5).WithBurst(5)), WithMaxHold(24 * time.Hour)}, func(t *testing.T, tr *Transport) {
		dead, cancel := context.WithCancel(t.Context())
		cancel()
		take(t, tr, Call{Cost: budget.Cost{budget.Requests: 0}})
		for range 10 {
			_, err := tr.Acquire(dead, Call{Key: "k"})
			require.ErrorIs(t, err, context.Canceled)
		}
		assert.Equal(t, 5.0, available(t, tr, ""))
		for range 5 {
			take(t, tr, Call{})
		}
		alive, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1000)
		for range 1000 {
			go func() { _, err := tr.Acquire(alive, Call{Key: "k"}); ended <- err }()
		}
		time.Sleep(time.Second)
		before := runtime.NumGoroutine()
		cancel()
		for range 1000 {
			require.ErrorIs(t, <-ended, context.Canceled)
		}
		synctest.Wait()
		assert.LessOrEqual(t, runtime.NumGoroutine(), before-990, "nobody of ours stays behind; the runtime may have started some of its own")
		assert.Equal(t, time.Second, time.Since(epoch))
		_, at := take(t, tr, Call{})
		assert.Equal(t, 12*time.Minute, at)
	})
}

func TestCloseEndsEveryWait(t *testing.T) {
	inBubble(t, []Option{perMinute, WithMaxInFlightTotal(2)}, func(t *testing.T, tr *Transport) {
		held, _ := take(t, tr, Call{})
		ended := make(chan error, 20)
		for i := range 20 {
			go func() { _, err := tr.Acquire(t.Context(), Call{Key: []string{"k", "l"}[i%2]}); ended <- err }()
		}
		synctest.Wait()
		require.NoError(t, tr.Close())
		closed := 0
		for range 20 {
			if err := <-ended; err != nil {
				require.ErrorIs(t, err, ErrClosed)
				closed++
			}
		}
		assert.Equal(t, 19, closed, "one was through already")
		held.Done()
		_, err := tr.Acquire(t.Context(), Call{Key: "k"})
		require.ErrorIs(t, err, ErrClosed)
		_, err = tr.Acquire(t.Context(), Call{Key: "new"})
		require.ErrorIs(t, err, ErrClosed)
		require.NoError(t, tr.Close())
	})
}

func TestBypassNeverWaitsButCounts(t *testing.T) {
	inBubble(t, []Option{WithPolicies(budget.PerMinute(2)), WithMaxInFlight(1), WithMaxInFlightTotal(1)}, func(t *testing.T, tr *Transport) {
		one, _ := take(t, tr, Call{})
		tr.Hold("k", time.Second)
		two, at := take(t, tr, Call{Bypass: true})
		assert.Zero(t, at)
		s, _ := tr.State("k")
		assert.Equal(t, 2, s.InFlight)
		one.Done()
		two.Done()
		_, at = take(t, tr, Call{})
		assert.Equal(t, time.Minute, at)
	})
}

func TestAcquireTellsItsResult(t *testing.T) {
	inBubble(t, []Option{perMinute}, func(t *testing.T, tr *Transport) {
		var r Result
		_, err := tr.Acquire(NewContext(t.Context(), Call{Key: "k", Result: &r}), Call{})
		require.NoError(t, err)
		assert.Equal(t, Result{Key: "k"}, r)
		_, err = tr.Acquire(t.Context(), Call{Key: "k", Result: &r})
		require.NoError(t, err)
		assert.Equal(t, time.Minute, r.Waited)
		_, err = tr.Acquire(t.Context(), Call{Key: "k", Result: &r, MaxWait: NoWait})
		require.Error(t, err)
		assert.Equal(t, WaitTooLong, r.Stop)
	})
}

// A call that makes no sense is refused like any other: with a *LimitError, an event and a record.
func TestAcquireRefusesWhatMakesNoSense(t *testing.T) {
	rec := &recorder{}
	inBubble(t, []Option{perMinute, WithObserver(rec)}, func(t *testing.T, tr *Transport) {
		var limit *LimitError
		_, err := tr.Acquire(t.Context(), Call{})
		require.ErrorAs(t, err, &limit)
		assert.EqualError(t, limit, "throttle: the Call of an Acquire has no Key, which says whose quota it draws on")
		assert.False(t, limit.Temporary())
		r := Result{Attempts: 7}
		_, err = tr.Acquire(t.Context(), Call{Key: "k", Cost: tokens(-1), Result: &r})
		require.ErrorAs(t, err, &limit)
		assert.Equal(t, Result{Key: "k", Stop: Inadmissible}, r)
		assert.Len(t, rec.of(KindDrop), 2)
	})
}

// A cost function wants a request, and there is none.
func TestAcquireNeverAsksTheCostFunction(t *testing.T) {
	cost := func(r *http.Request) budget.Cost { return tokens(float64(len(r.URL.Path))) }
	inBubble(t, []Option{perMinute, WithCost(cost)}, func(t *testing.T, tr *Transport) {
		take(t, tr, Call{})
		assert.Zero(t, available(t, tr, ""))
	})
}

// The queue's wait and the server's hold are told apart.
func TestWaitAndHoldAreNeverMixed(t *testing.T) {
	inBubble(t, []Option{perMinute}, func(t *testing.T, tr *Transport) {
		take(t, tr, Call{})
		time.AfterFunc(20*time.Second, func() { tr.Hold("k", 10*time.Second) })
		var r Result
		_, at := take(t, tr, Call{Result: &r})
		assert.Equal(t, time.Minute, at)
		assert.Equal(t, 10*time.Second, r.Held)
		assert.Equal(t, 50*time.Second, r.Waited)
	})
}
