package throttle

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

// mostIn is the most hits in any span of a length.
func mostIn(at []time.Duration, span time.Duration) (most int) {
	for i, j := 0, 0; j < len(at); j++ {
		for at[j]-at[i] >= span {
			i++
		}
		most = max(most, j-i+1)
	}
	return most
}

func TestPAC01DeclaredLimitHoldsInAnySpan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		c, _ := client(t, s, WithPolicies(budget.PerMinute(10)))
		flood(t, c, 30, api)
		at := s.times()
		assert.Equal(t, 10, mostIn(at, time.Minute))
		assert.GreaterOrEqual(t, at[29], 2*time.Minute)
		assert.LessOrEqual(t, at[29], 125*time.Second)
	})
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		c, _ := client(t, s, WithPolicies(budget.PerMinute(10).WithBurst(10)))
		flood(t, c, 30, api)
		assert.LessOrEqual(t, mostIn(s.times(), time.Minute), 20, "a bucket lets its burst and its refill out")
	})
}

func TestPAC02RestEarnsNoBurst(t *testing.T) {
	for burst, free := range map[float64]int{1: 1, 5: 5} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(always)
			c, _ := client(t, s, WithPolicies(budget.PerSecond(10).WithBurst(burst)))
			flood(t, c, 1, api)
			time.Sleep(5 * time.Second)
			flood(t, c, 20, api)
			at := s.times()[1:]
			assert.LessOrEqual(t, at[free-1]-at[0], 20*time.Millisecond)
			for i := free; i < len(at); i++ {
				assert.GreaterOrEqual(t, at[i]-at[i-1], 95*time.Millisecond)
			}
		})
	}
}

func TestPAC05DearerThanTheBudgetIsSaidAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		c, _ := client(t, s, WithPolicies(budget.PerMinute(1000).Of(budget.Tokens)))
		_, _, err := do(c, NewContext(t.Context(), Call{Cost: budget.Cost{budget.Tokens: 2500}}), http.MethodGet, api, "")
		var limit *LimitError
		require.ErrorAs(t, err, &limit)
		require.ErrorIs(t, err, ErrCostTooLarge)
		assert.EqualValues(t, 2500, limit.Cost)
		assert.EqualValues(t, 1000, limit.Limit)
		assert.False(t, limit.Temporary())
		_, _, err = do(c, NewContext(t.Context(), Call{Cost: budget.Cost{budget.Tokens: 10}}), http.MethodGet, api, "")
		require.NoError(t, err)
		assert.Equal(t, 1, s.count())
		assert.Zero(t, time.Since(s.start))
	})
}

func TestPAC08WaitersSeeTheBetterLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		c, tr := client(t, s, WithPolicies(budget.PerMinute(1).WithBurst(1)))
		done := make(chan struct{})
		go func() { defer close(done); flood(t, c, 6, api) }()
		time.Sleep(2 * time.Second)
		require.NoError(t, tr.SetPolicies(budget.PerSecond(10).WithBurst(1)))
		<-done
		assert.LessOrEqual(t, time.Since(s.start), 2600*time.Millisecond)

		require.NoError(t, tr.SetPolicies(spaced(1)))
		start := s.count()
		flood(t, c, 4, api)
		at := s.times()[start:]
		for i := 1; i < len(at); i++ {
			assert.GreaterOrEqual(t, at[i]-at[i-1], 950*time.Millisecond)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		c, tr := client(t, s, WithPolicies(spaced(10)))
		tr.Hold("api.example", 10*time.Minute)
		time.AfterFunc(5*time.Second, func() { tr.Resume("api.example") })
		flood(t, c, 5, api)
		at := s.times()
		assert.GreaterOrEqual(t, at[0], 5*time.Second)
		assert.LessOrEqual(t, at[4], 5500*time.Millisecond)
		for i := 1; i < len(at); i++ {
			assert.GreaterOrEqual(t, at[i]-at[i-1], 95*time.Millisecond)
		}
	})
}

func TestPAC20EstimatesAreSettledByWhatIsUsed(t *testing.T) {
	const minute = 1000.0
	tokens := func(n float64) budget.Cost { return budget.Cost{budget.Tokens: n} }
	run := func(t *testing.T, calls int, estimate float64, actual budget.Cost) []time.Duration {
		s := newServer(always)
		c, _ := client(t, s, WithPolicies(budget.PerMinute(minute).Of(budget.Tokens).WithBurst(minute)))
		for range calls {
			resp, _, err := do(c, NewContext(t.Context(), Call{Cost: tokens(estimate)}), http.MethodGet, api, "")
			require.NoError(t, err)
			assert.Equal(t, actual != nil, Settle(resp, actual))
			if actual != nil {
				assert.False(t, Settle(resp, tokens(1)), "only once")
			}
		}
		return s.times()
	}
	synctest.Test(t, func(t *testing.T) {
		assert.Less(t, run(t, 10, 500, tokens(100))[9], 31*time.Second, "too much is given back")
	})
	synctest.Test(t, func(t *testing.T) {
		at := run(t, 3, 500, nil)
		for i, want := range []time.Duration{0, 0, 30 * time.Second} {
			assert.InDelta(t, want, at[i], float64(time.Second), "what is unknown stays reserved")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		at := run(t, 4, 50, tokens(500))
		for i, want := range []time.Duration{0, 0, 3 * time.Second, 33 * time.Second} {
			assert.InDelta(t, want, at[i], float64(time.Second), "too little becomes debt")
		}
	})
}

func TestPAC21OnlyWhatWasNotSentIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(nil)
		s.reply = func(n int, _ *http.Request) reply {
			switch {
			case n <= 5:
				return reply{status: 429}
			case n == 6:
				return reply{err: &net.OpError{Op: "dial", Err: errors.New("refused")}}
			}
			return reply{}
		}
		c, tr := client(t, s, WithPolicies(budget.PerHour(10)), WithMaxAttempts(1))
		for range 6 {
			get(c, api)
			time.Sleep(time.Second)
		}
		state, _ := tr.State("api.example")
		assert.EqualValues(t, 5, state.Budgets[0].Used, "refused attempts count, the one that was never sent does not")
	})
	synctest.Test(t, func(t *testing.T) {
		s := newServer(func(n int, _ *http.Request) reply {
			if n <= 5 {
				return reply{status: 429}
			}
			return reply{}
		})
		c, _ := client(t, s, WithPolicies(budget.PerMinute(10)))
		flood(t, c, 20, api)
		assert.Equal(t, 25, s.count())
		assert.Equal(t, 10, mostIn(s.times(), time.Minute), "attempts, the repeated ones included")
	})
}

func TestPAC23NoSpanHasMoreThanTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		c, _ := client(t, s, WithPolicies(budget.PerMinute(10)))
		time.Sleep(59900 * time.Millisecond)
		flood(t, c, 10, api)
		time.Sleep(200 * time.Millisecond)
		flood(t, c, 10, api)
		assert.Equal(t, 10, mostIn(s.times(), time.Minute))
	})
}

func TestPAC24OnlyWhatIsMissingIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		c, _ := client(t, s, WithPolicies(budget.PerSecond(1).WithBurst(3)))
		flood(t, c, 1, api)
		_, _, err := do(c, NewContext(t.Context(), Call{Cost: budget.Cost{budget.Requests: 1}}), http.MethodGet, api, "")
		require.NoError(t, err) // one is left
		_, _, err = do(c, NewContext(t.Context(), Call{Cost: budget.Cost{budget.Requests: 2}}), http.MethodGet, api, "")
		require.NoError(t, err)
		assert.InDelta(t, time.Second, s.times()[2], float64(50*time.Millisecond))
	})
}

func TestPAC25NobodyPassesWithoutAPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		c, _ := client(t, s, WithPolicies(budget.PerSecond(100).WithBurst(10)))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() { do(c, ctx, http.MethodGet, api, "") })
		}
		wg.Wait()
		assert.LessOrEqual(t, s.count(), 310)
		assert.GreaterOrEqual(t, s.count(), 290)
	})
}

// A batch whose workers wait in the lane: who reads it goes no further ahead than there are workers, and nothing fails.
func TestPAC26LackOfBudgetIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const items, workers = 10_000, 16
		var sent atomic.Int32
		base := roundTripper(func(r *http.Request) (*http.Response, error) {
			sent.Add(1)
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
		})
		c, _ := client(t, base, WithPolicies(budget.PerMinute(600), budget.PerMinute(60_000).Of(budget.Tokens)),
			WithCost(func(*http.Request) budget.Cost { return tokens(500) }))
		start := time.Now()
		work := make(chan int)
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				for range work {
					_, _, err := get(c, api)
					assert.NoError(t, err)
				}
			})
		}
		before, most := heapInUse(), int64(0)
		for i := range items {
			work <- i
			assert.LessOrEqual(t, i-int(sent.Load()), workers, "what was read and not sent")
			if i%1000 == 999 {
				most = max(most, heapInUse())
			}
		}
		close(work)
		wg.Wait()
		assert.EqualValues(t, items, sent.Load())
		assert.GreaterOrEqual(t, time.Since(start), 83*time.Minute)
		assert.LessOrEqual(t, time.Since(start), 85*time.Minute)
		assert.Less(t, most-before, int64(mib))
	})
}
