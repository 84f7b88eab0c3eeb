package throttle

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
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

// A server that counts in a fixed window, and a process that restarts in the middle of it: the first answer tells what is left.
func TestPAC03RestartAdoptsWhatTheServerSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(nil)
		left, reset, refused := 10, time.Now().Add(time.Minute), 0
		s.reply = func(int, *http.Request) reply {
			if !time.Now().Before(reset) {
				left, reset = 10, reset.Add(time.Minute)
			}
			h := fields("X-RateLimit-Limit", "10", "X-RateLimit-Reset", seconds(time.Until(reset)))
			if h["X-RateLimit-Remaining"] = itoa(max(left-1, 0)); left == 0 {
				refused++
				return reply{status: 429, header: h}
			}
			left--
			return reply{header: h}
		}
		before, _ := client(t, s, WithPolicies(budget.PerMinute(10)))
		flood(t, before, 10, api)
		time.Sleep(5 * time.Second)
		after, _ := client(t, s, WithPolicies(budget.PerMinute(10)))
		flood(t, after, 5, api)
		assert.LessOrEqual(t, refused, 1, "one call finds out")
		for _, at := range s.times()[11:] {
			assert.GreaterOrEqual(t, at, time.Minute)
		}
	})
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

func TestPAC09RefusalHoldsEverybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(nil)
		s.latency = 100 * time.Millisecond
		var refusedAt time.Duration
		refused := 0
		s.reply = func(n int, _ *http.Request) reply {
			now := time.Since(s.start)
			if n == 3 {
				refusedAt = now
			}
			if n >= 3 && now < refusedAt+time.Minute {
				refused++
				return tooMany("Retry-After", "60")
			}
			return reply{}
		}
		c, _ := client(t, s, WithMaxInFlight(2))
		flood(t, c, 20, api)
		assert.LessOrEqual(t, refused, 2, "the refused one, and the one that was under way")
	})
}

// Ten processes, each with its crowd, all held to one moment: they do not come back in one millisecond, and none before its time. Each holds
// its own crowd back to its pace, and lets one call go first; the spread at the end of the hold is half a second (the case wants two).
func TestPAC11NobodyComesBackEarlyOrAllAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(nil)
		s.reply = func(int, *http.Request) reply {
			if left := time.Minute - time.Since(s.start); left > 0 {
				return tooMany("Retry-After", seconds(left))
			}
			return reply{}
		}
		var wg sync.WaitGroup
		for range 10 {
			c, _ := client(t, s, WithPolicies(spaced(10)))
			wg.Go(func() { flood(t, c, 20, api) })
		}
		wg.Wait()
		at := s.times()
		first := slices.IndexFunc(at, func(d time.Duration) bool { return d >= time.Minute })
		require.Equal(t, 10, first, "one call of each found out")
		assert.Less(t, at[9], time.Second)
		assert.LessOrEqual(t, mostIn(at[first:], 10*time.Millisecond), 10)
		assert.LessOrEqual(t, mostIn(at[first:], time.Second), 10*11)
		for _, d := range at[first:] {
			assert.LessOrEqual(t, d, 64*time.Second)
		}
	})
}

// A server that refuses half of everything for ten minutes, and names long waits: afterwards the whole speed is back.
func TestPAC14LongHoldsDoNotFreezeWhatIsLearned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(nil)
		s.latency = time.Second
		s.reply = func(n int, _ *http.Request) reply {
			if n%2 == 0 && time.Since(s.start) < 10*time.Minute {
				return tooMany("Retry-After", "89")
			}
			return reply{}
		}
		c, tr := client(t, s, WithMaxInFlight(20))
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				for {
					if _, _, err := get(c, api); err != nil {
						assert.ErrorIs(t, err, ErrClosed)
						return
					}
				}
			})
		}
		time.Sleep(13 * time.Minute)
		before := s.count()
		time.Sleep(time.Minute)
		assert.GreaterOrEqual(t, s.count()-before, 20*60*9/10)
		require.NoError(t, tr.Close())
		wg.Wait()
	})
}

func TestPAC17LargeQuotaIsNotSpreadEvenly(t *testing.T) {
	quota := func(s *server, left int, reset time.Duration, refused *int) func(int, *http.Request) reply {
		end := time.Now().Add(reset)
		return func(int, *http.Request) reply {
			if !time.Now().Before(end) {
				left, end = 5000, end.Add(time.Hour)
			}
			h := fields("X-RateLimit-Limit", "5000", "X-RateLimit-Reset", itoa(int(end.Unix())), "Date", time.Now().UTC().Format(http.TimeFormat))
			if left == 0 {
				*refused++
				h["X-RateLimit-Remaining"] = "0"
				return reply{status: 429, header: h}
			}
			left--
			h["X-RateLimit-Remaining"] = itoa(left)
			return reply{header: h}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		s, refused := newServer(nil), 0
		s.latency = 20 * time.Millisecond
		s.reply = quota(s, 5000, time.Hour, &refused)
		c, _ := client(t, s, WithMaxInFlight(10))
		flood(t, c, 300, api)
		assert.Less(t, time.Since(s.start), 3*time.Second)
		assert.Zero(t, refused)
	})
	synctest.Test(t, func(t *testing.T) {
		s, refused := newServer(nil), 0
		s.latency = 20 * time.Millisecond
		s.reply = quota(s, 100, 1000*time.Second, &refused)
		c, _ := client(t, s, WithMaxInFlight(10))
		flood(t, c, 200, api)
		assert.Zero(t, refused)
		at := s.times()
		before := slices.IndexFunc(at, func(d time.Duration) bool { return d >= 1000*time.Second })
		assert.LessOrEqual(t, before, 100)
	})
}

func TestPAC18ShareLeavesRoomForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(nil)
		s.latency = 50 * time.Millisecond
		left, reset := 100, time.Now().Add(time.Minute)
		least := 100
		s.reply = func(int, *http.Request) reply {
			if !time.Now().Before(reset) {
				left, reset = 100, reset.Add(time.Minute)
			}
			left--
			least = min(least, left)
			return reply{header: fields("X-RateLimit-Limit", "100", "X-RateLimit-Remaining", itoa(left), "X-RateLimit-Reset", seconds(time.Until(reset)))}
		}
		c, _ := client(t, s, WithShare(0.75))
		var wg sync.WaitGroup
		for range 40 {
			wg.Go(func() {
				for range 5 {
					_, _, err := get(c, api)
					assert.NoError(t, err)
				}
			})
		}
		wg.Wait()
		assert.GreaterOrEqual(t, least, 25)
		assert.Equal(t, 200, s.count())
		assert.Less(t, time.Since(s.start), 3*time.Minute)
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
			assert.False(t, Settle(resp, tokens(1)) && actual != nil, "only once")
		}
		return s.times()
	}
	synctest.Test(t, func(t *testing.T) {
		assert.Less(t, run(t, 10, 500, tokens(100))[9], 31*time.Second, "too much is given back")
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

func TestPAC26LackOfBudgetIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		c, _ := client(t, s, WithPolicies(budget.PerMinute(600), budget.PerMinute(60_000).Of(budget.Tokens)),
			WithCost(func(*http.Request) budget.Cost { return budget.Cost{budget.Tokens: 500} }))
		flood(t, c, 10_000, api)
		assert.GreaterOrEqual(t, time.Since(s.start), 82*time.Minute)
		assert.LessOrEqual(t, time.Since(s.start), 85*time.Minute)
	})
}
