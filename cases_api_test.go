package throttle

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

func TestAPI04ZeroVerdictIsTheDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(script(tooMany("Retry-After", "1")))
		c, _ := client(t, s, WithVerdict(func(*http.Response, func() []byte) (v Verdict) { return v }))
		_, _, err := get(c, api)
		require.NoError(t, err)
		assert.Equal(t, 2, s.count())
	})
}

func TestAPI06WaitWaitUpToOrFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		c, _ := client(t, s, WithPolicies(spaced(0.2)))
		flood(t, c, 1, api)
		for _, most := range []time.Duration{NoWait, -time.Minute, 2 * time.Second} {
			var r Result
			_, _, err := do(c, NewContext(t.Context(), Call{MaxWait: most, Result: &r}), http.MethodGet, api, "")
			var limit *LimitError
			require.ErrorAs(t, err, &limit)
			require.ErrorIs(t, err, ErrMaxWait)
			assert.InDelta(t, 5*time.Second, limit.Wait, float64(10*time.Millisecond))
			assert.True(t, limit.Timeout())
			assert.Equal(t, WaitTooLong, r.Stop)
			assert.Zero(t, time.Since(s.start))
		}
		flood(t, c, 1, api)
		about(t, 5*time.Second, s.times()[1], "who waits")
	})
}

func TestAPI07ReadsAndWritesAndGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		group := budget.PerSecond(3).WithBurst(1)
		group.Name = "group"
		c, _ := client(t, s, WithPolicies(spaced(10)), WithRoute("POST /", spaced(1)),
			WithRoute("/a/", group), WithRoute("/b/", group), WithRoute("/c/", group))
		var wg sync.WaitGroup
		for i := range 25 {
			method := http.MethodGet
			if i%5 == 4 {
				method = http.MethodPost
			}
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Microsecond) // in this order: who comes first leaves first
				do(c, context.Background(), method, api, "")
			})
		}
		wg.Wait()
		var writes []time.Duration
		for i, h := range s.hits {
			if h.req.Method == http.MethodPost {
				writes = append(writes, h.at)
			}
			if i > 0 {
				assert.GreaterOrEqual(t, h.at-s.hits[i-1].at, 99*time.Millisecond)
			}
		}
		require.Len(t, writes, 5)
		assert.Equal(t, 1, mostIn(writes, 990*time.Millisecond))
		assert.LessOrEqual(t, writes[4], 4800*time.Millisecond, "none waits for the other kind")
		assert.LessOrEqual(t, s.hits[24].at, 4800*time.Millisecond)
		start := len(s.hits)
		for i := range 9 {
			wg.Go(func() { get(c, "http://api.example/"+string("abc"[i%3])+"/x") })
		}
		wg.Wait()
		at := s.times()[start:]
		for i := 1; i < len(at); i++ {
			assert.GreaterOrEqual(t, at[i]-at[i-1], 333*time.Millisecond)
		}
	})
}

func TestAPI05BypassIsSentAtOnceAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		c, tr := client(t, s, WithPolicies(budget.PerHour(5)))
		tr.Hold("api.example", time.Hour)
		_, _, err := do(c, NewContext(t.Context(), Call{Bypass: true}), http.MethodGet, api, "")
		require.NoError(t, err)
		assert.Zero(t, time.Since(s.start))
		state, _ := tr.State("api.example")
		assert.EqualValues(t, 1, state.Budgets[0].Used)
	})
}

func TestAPI05ObserveOnlyTellsAndLeavesTheTrafficAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(func(n int, _ *http.Request) reply {
			if n == 10 {
				return tooMany("Retry-After", "30")
			}
			return reply{}
		})
		rec := &recorder{}
		var log bytes.Buffer
		c, tr := client(t, s, WithPolicies(named("slow", spaced(1))), WithObserveOnly(), WithObserver(rec),
			WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		for range 10 {
			_, _, err := get(c, api)
			require.NoError(t, err)
		}
		_, err := tr.Acquire(t.Context(), Call{Key: "api.example"})
		require.NoError(t, err)
		assert.Zero(t, time.Since(s.start))
		assert.Equal(t, 10, s.count(), "not even a refusal is repeated")
		assert.EqualValues(t, 11, budgetOf(t, tr, "api.example", "slow").Used)
		assert.Empty(t, rec.of(KindWait, KindRetry))
		would := rec.of(KindBypass)
		require.Len(t, would, 10)
		for i, e := range would[:9] {
			assert.Equal(t, CauseBudget, e.Cause)
			assert.Equal(t, "slow", e.Budget)
			assert.InDelta(t, time.Duration(i+1)*time.Second, e.Duration, float64(100*time.Millisecond))
		}
		assert.Equal(t, CauseHold, would[9].Cause)
		about(t, 30*time.Second, would[9].Duration, "as the server said")
		assert.Contains(t, log.String(), "would have waited")
	})
}

func TestAPI08HourOfLimitsTakesNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		c, tr := client(t, s, WithPolicies(budget.PerMinute(10)))
		flood(t, c, 601, api)
		assert.GreaterOrEqual(t, time.Since(s.start), time.Hour)
		require.NoError(t, tr.Close())
		_, _, err := get(c, api)
		require.ErrorIs(t, err, ErrClosed)
	})
}

func TestCallsMergeFromTheOutsideIn(t *testing.T) {
	var inner, outer Result
	ctx := NewContext(t.Context(), Call{Key: "outer", Cost: budget.Cost{"tokens": 1}, Priority: 1, MaxWait: time.Second, MaxAttempts: 2, Idempotent: true, Result: &outer})
	c, ok := FromContext(NewContext(ctx, Call{Key: "inner", Priority: 2, Bypass: true, Result: &inner}))
	require.True(t, ok)
	assert.Equal(t, Call{Key: "inner", Cost: budget.Cost{"tokens": 1}, Priority: 2, MaxWait: time.Second, MaxAttempts: 2, Idempotent: true, Bypass: true, Result: &inner}, c)
	_, ok = FromContext(t.Context())
	assert.False(t, ok)
}

func TestPolicyFuncThatFailsFailsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		notYours := errors.New("not in your tier")
		s := newServer(always)
		c, _ := client(t, s, WithPolicyFunc(func(string, *http.Request) ([]budget.Policy, error) { return nil, notYours }))
		var r Result
		_, _, err := do(c, NewContext(t.Context(), Call{Result: &r}), http.MethodGet, api, "")
		require.ErrorIs(t, err, notYours)
		assert.Equal(t, "api.example", r.Key, "the record is filled on errors too")
		assert.Zero(t, s.count())
	})
}
