package throttle

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

// inBubble makes a transport in virtual time for work that is not HTTP.
func inBubble(t *testing.T, opts []Option, f func(t *testing.T, tr *Transport)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		_, tr := client(t, newServer(always), opts...)
		f(t, tr)
	})
}

// take acquires and says when that was, since the start of the bubble.
func take(t *testing.T, tr *Transport, c Call) (*Permit, time.Duration) {
	t.Helper()
	if c.Key == "" {
		c.Key = "k"
	}
	p, err := tr.Acquire(t.Context(), c)
	require.NoError(t, err)
	return p, time.Since(epoch)
}

// tokens is the cost of one request and n tokens.
func tokens(n float64) budget.Cost { return budget.Cost{budget.Tokens: n} }

// available is what is left of the named budget of key k, or of the only one.
func available(t *testing.T, tr *Transport, name string) float64 {
	t.Helper()
	return budgetOf(t, tr, "k", name).Available
}

func budgetOf(t *testing.T, tr *Transport, key, name string) BudgetState {
	t.Helper()
	s, ok := tr.State(key)
	require.True(t, ok)
	for _, b := range s.Budgets {
		if b.Name == name {
			return b
		}
	}
	require.Fail(t, "no such budget", "%q in %+v", name, s)
	return BudgetState{}
}

func named(name string, p budget.Policy) budget.Policy {
	p.Name = name
	return p
}

// Requests, a day's requests and tokens at once: what one of them refuses takes nothing from the others.
func TestPoliciesAreTakenTogetherOrNotAtAll(t *testing.T) {
	inBubble(t, []Option{WithPolicies(
		named("minute", budget.PerMinute(25)), named("day", budget.PerDay(30)), named("tokens", budget.PerMinute(1000).Of(budget.Tokens)),
	)}, func(t *testing.T, tr *Transport) {
		take(t, tr, Call{Cost: budget.Cost{budget.Requests: 21, budget.Tokens: 900}})
		_, err := tr.Acquire(t.Context(), Call{Key: "k", Cost: tokens(200), MaxWait: NoWait})
		require.ErrorIs(t, err, ErrMaxWait)
		assert.Equal(t, 4.0, available(t, tr, "minute"))
		assert.Equal(t, 9.0, available(t, tr, "day"))
		assert.Equal(t, 100.0, available(t, tr, "tokens"))
		for range 4 {
			take(t, tr, Call{Cost: tokens(25)})
		}
		_, at := take(t, tr, Call{})
		assert.Equal(t, time.Minute, at, "the minute's requests are spent")
		for range 4 {
			take(t, tr, Call{})
		}
		_, err = tr.Acquire(t.Context(), Call{Key: "k"})
		var limit *LimitError
		require.ErrorAs(t, err, &limit)
		assert.ErrorIs(t, err, ErrMaxHold, "the day's are spent as well")
		assert.Equal(t, "day", limit.Budget)
		assert.Equal(t, 24*time.Hour-time.Minute, limit.Wait)
	})
}

// PAC-24: the wait is for what is missing, not for the whole cost.
func TestWaitIsForWhatIsMissing(t *testing.T) {
	inBubble(t, []Option{WithPolicies(budget.PerSecond(1).WithBurst(3))}, func(t *testing.T, tr *Transport) {
		take(t, tr, Call{Cost: budget.Cost{budget.Requests: 2}})
		_, at := take(t, tr, Call{Cost: budget.Cost{budget.Requests: 2}})
		assert.Equal(t, time.Second, at)
	})
}

// PAC-05: a cost that a budget can never hold is an error at once, and costs nothing.
func TestCostAboveWhatABudgetCanHoldIsAnErrorAtOnce(t *testing.T) {
	for name, p := range map[string]budget.Policy{
		"log": budget.PerMinute(1000).Of(budget.Tokens), "bucket": budget.PerMinute(60_000).Of(budget.Tokens).WithBurst(1000),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, []Option{WithPolicies(p)}, func(t *testing.T, tr *Transport) {
				for _, queued := range []bool{false, true} {
					_, err := tr.Acquire(t.Context(), Call{Key: "k", Cost: tokens(2500)})
					var limit *LimitError
					require.ErrorAs(t, err, &limit)
					assert.ErrorIs(t, err, ErrCostTooLarge)
					assert.Equal(t, 2500.0, limit.Cost)
					assert.Equal(t, 1000.0, limit.Limit)
					assert.Equal(t, budget.Tokens, limit.Budget)
					assert.False(t, limit.Temporary())
					assert.Equal(t, map[bool]time.Duration{true: 1, false: 0}[queued], time.Since(epoch))
					if !queued { // the same while others wait
						take(t, tr, Call{Cost: tokens(1000)})
						ctx, cancel := context.WithCancel(t.Context())
						defer cancel()
						go func() { _, _ = tr.Acquire(ctx, Call{Key: "k", Cost: tokens(1000)}) }()
						time.Sleep(time.Nanosecond)
					}
				}
			})
		})
	}
}

// The cost of a call, its key and its priority come with the context.
func TestCallInTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tr := client(t, newServer(always), WithPolicies(budget.PerMinute(10)))
		ctx := NewContext(t.Context(), Call{Key: "k", Cost: budget.Cost{budget.Requests: 7}})
		_, _, err := do(c, ctx, http.MethodGet, api, "")
		require.NoError(t, err)
		assert.Equal(t, 3.0, available(t, tr, ""))
		_, ok := tr.State("api.example")
		assert.False(t, ok, "nothing went to the host's own key")
	})
}

// PAC-08: what waits sees new limits at once, higher or lower; what was spent stays spent.
func TestPoliciesChangeWhileCallsWait(t *testing.T) {
	inBubble(t, []Option{WithPolicies(budget.PerMinute(1).WithBurst(1))}, func(t *testing.T, tr *Transport) {
		left := race(t, tr, 6, Call{})
		time.Sleep(2 * time.Second)
		require.NoError(t, tr.SetPolicies(budget.PerSecond(10).WithBurst(1)))
		for i := range 5 {
			at := left()
			if i > 0 {
				assert.LessOrEqual(t, at, 2*time.Second+time.Duration(i)*100*time.Millisecond)
			}
		}
		require.NoError(t, tr.SetPolicies(budget.PerSecond(1).WithBurst(1)))
		before := time.Since(epoch)
		assert.GreaterOrEqual(t, left()-before, 950*time.Millisecond)
	})
}

// race starts n acquisitions of key k at once; each call of next is when one more of them succeeded.
func race(t *testing.T, tr *Transport, n int, c Call) (next func() time.Duration) {
	at := make(chan time.Duration, n)
	c.Key = "k"
	for range n {
		go func() {
			p, err := tr.Acquire(t.Context(), c)
			if err == nil {
				p.Done()
				at <- time.Since(epoch)
			}
		}()
	}
	return func() time.Duration { return <-at }
}

func TestSpentUnitsCarryOver(t *testing.T) {
	minute, day := budget.PerMinute(10), budget.PerDay(100)
	for name, c := range map[string]struct {
		before, after []budget.Policy
		left          map[string]float64
	}{
		"higher":            {[]budget.Policy{minute}, []budget.Policy{budget.PerMinute(20)}, map[string]float64{"": 14}},
		"lower":             {[]budget.Policy{minute}, []budget.Policy{budget.PerMinute(5)}, map[string]float64{"": 0}},
		"the same":          {[]budget.Policy{minute}, []budget.Policy{minute}, map[string]float64{"": 4}},
		"another window":    {[]budget.Policy{minute}, []budget.Policy{budget.PerHour(50)}, map[string]float64{"": 44}},
		"another algorithm": {[]budget.Policy{minute}, []budget.Policy{minute.Using(budget.FixedWindow)}, map[string]float64{"": 4}},
		"another name":      {[]budget.Policy{named("a", minute)}, []budget.Policy{named("b", budget.PerHour(50))}, map[string]float64{"b": 44}},
		"one more":          {[]budget.Policy{minute}, []budget.Policy{minute, named("day", day)}, map[string]float64{"": 4, "day": 94}},
		"by window":         {[]budget.Policy{named("m", minute), named("d", day)}, []budget.Policy{named("x", budget.PerDay(200)), named("y", budget.PerMinute(7))}, map[string]float64{"x": 194, "y": 1}},
		"another unit":      {[]budget.Policy{minute}, []budget.Policy{minute.Of(budget.Tokens)}, map[string]float64{"": 10}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, []Option{WithPolicies(c.before...)}, func(t *testing.T, tr *Transport) {
				take(t, tr, Call{Cost: budget.Cost{budget.Requests: 6}})
				require.NoError(t, tr.SetPolicies(c.after...))
				for name, want := range c.left {
					assert.Equal(t, want, available(t, tr, name))
				}
			})
		})
	}
}

// A call that left under other policies gives back nothing to those that never counted it.
func TestNewBudgetsAreGivenBackOnlyWhatTheyCounted(t *testing.T) {
	inBubble(t, []Option{WithPolicies(budget.PerMinute(10))}, func(t *testing.T, tr *Transport) {
		before, _ := take(t, tr, Call{Cost: tokens(50)})
		require.NoError(t, tr.SetPolicies(budget.PerMinute(10), named("t", budget.PerMinute(100).Of(budget.Tokens))))
		take(t, tr, Call{Cost: tokens(30)})
		before.Cancel()
		assert.Equal(t, 70.0, available(t, tr, "t"))
		assert.Equal(t, 9.0, available(t, tr, ""))
	})
}

func TestPoliciesThatMakeNoSenseAreRefused(t *testing.T) {
	_, tr := client(t, newServer(always), WithPolicies(budget.PerMinute(10)), WithRoute("/x/", named("shared", budget.PerMinute(5))))
	for name, p := range map[string]budget.Policy{
		"zero": budget.PerMinute(0), "negative": budget.PerMinute(-1), "slower than the max hold": budget.PerDay(3),
		"another of the same name": named("shared", budget.PerMinute(6)),
	} {
		assert.Error(t, tr.SetPolicies(p), name)
		_, err := NewTransport(nil, WithPolicies(p), WithRoute("/x/", named("shared", budget.PerMinute(5))))
		assert.Error(t, err, name)
	}
	_, err := NewTransport(nil, WithPolicies(named("a", budget.PerMinute(5)), named("a", budget.PerMinute(6))))
	assert.ErrorContains(t, err, `share the name "a"`)
}

func TestPoliciesOfOneNameAreOneBudget(t *testing.T) {
	p := named("all", budget.PerMinute(10))
	inBubble(t, []Option{WithPolicies(p, p, budget.PerMinute(10))}, func(t *testing.T, tr *Transport) {
		take(t, tr, Call{})
		assert.Equal(t, 9.0, available(t, tr, "all"))
		s, _ := tr.State("k")
		assert.Len(t, s.Budgets, 1)
	})
}

func TestShareLeavesTheRestToOthers(t *testing.T) {
	inBubble(t, []Option{WithShare(0.75), WithPolicies(budget.PerMinute(100), budget.PerSecond(100).WithBurst(40))}, func(t *testing.T, tr *Transport) {
		at := race(t, tr, 150, Call{})
		for i := range 150 {
			d := at()
			assert.Equal(t, i >= 75, d >= time.Minute, "number %d at %v", i, d)
			assert.Equal(t, i >= 30, d > 0, "number %d at %v", i, d)
		}
	})
}

// A store that cannot open the new policies: the old ones stay in force, and nobody is left to believe otherwise.
func TestPoliciesThatTheStoreCannotOpenAreTold(t *testing.T) {
	closed := errors.New("the store is closed")
	store, rec := &memory{laws: map[string]budget.Budget{}}, &recorder{}
	inBubble(t, []Option{WithStore(store), WithPolicies(budget.PerMinute(5)), WithObserver(rec)}, func(t *testing.T, tr *Transport) {
		take(t, tr, Call{})
		store.fail = closed
		require.NoError(t, tr.SetPolicies(budget.PerMinute(7)), "nothing is wrong with them")
		told := rec.of(KindDegraded)
		require.Len(t, told, 1)
		assert.Equal(t, "k", told[0].Key)
		assert.ErrorIs(t, told[0].Err, closed)
		refusal(t, tr, t.Context(), Call{}, closed)
		refusal(t, tr, t.Context(), Call{}, closed)
		assert.Equal(t, 5.0, budgetOf(t, tr, "k", "").Limit)
		tr.Hold("k", time.Minute)
		s, _ := tr.State("k")
		assert.Equal(t, time.Minute, time.Until(s.Hold), "a hold does not wait for the store")
		tr.Resume("k")
		store.fail, store.laws = nil, map[string]budget.Budget{}
		take(t, tr, Call{})
		assert.Equal(t, 7.0, budgetOf(t, tr, "k", "").Limit)
	})
}
