package throttle

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

// row is n errands with the same wishes, one after the other.
func row(n int, from, gap time.Duration, e errand) []errand {
	all := make([]errand, n)
	for i := range all {
		all[i] = e
		all[i].at = from + time.Duration(i)*gap
	}
	return all
}

// whenLeft is when each errand left, by its number; negative = never.
func whenLeft(n int, left []departure) []time.Duration {
	at := make([]time.Duration, n)
	for i := range at {
		at[i] = -1
	}
	for _, d := range left {
		at[d.errand] = d.at
	}
	return at
}

func TestEqualWaitersLeaveInOrderOfArrival(t *testing.T) {
	for name, p := range map[string]budget.Policy{
		"bucket": budget.PerSecond(10).WithBurst(1), "spacing": budget.PerSecond(10).Using(budget.LeakyBucket), "log": budget.PerSecond(10),
	} {
		t.Run(name, func(t *testing.T) {
			at := whenLeft(200, play(t, row(200, time.Millisecond, time.Millisecond, errand{}), WithPolicies(p)))
			assert.IsNonDecreasing(t, at)
			assert.Equal(t, time.Millisecond, at[0])
		})
	}
}

// CON-07: twelve cheap calls a second ask for ten tokens a second, for ever; a call that wants ten comes after one second.
func TestCheapCallsCannotStarveAnExpensiveOne(t *testing.T) {
	errands := row(1200, time.Millisecond, time.Second/12, errand{cost: budget.Cost{budget.Tokens: 1}})
	errands = append(errands, errand{at: time.Second, cost: budget.Cost{budget.Tokens: 10}})
	at := whenLeft(len(errands), play(t, errands, WithPolicies(budget.PerSecond(10).Of(budget.Tokens).WithBurst(10))))
	assert.Less(t, at[1200], 3*time.Second)
	assert.IsNonDecreasing(t, at[:1200], "the cheap ones keep their order")
}

// A small call that the budget has room for need not wait for a big one, but all that pass it take no more than it wants itself.
func TestSmallCallsPassABigOneWithinABound(t *testing.T) {
	errands := []errand{
		{at: 1, cost: budget.Cost{budget.Tokens: 60}},
		{at: 2, cost: budget.Cost{budget.Tokens: 50}}, // waits for 10 more: 1 s
	}
	errands = append(errands, row(8, 3, 1, errand{cost: budget.Cost{budget.Tokens: 10}})...)
	at := whenLeft(len(errands), play(t, errands, WithPolicies(budget.PerSecond(10).Of(budget.Tokens).WithBurst(100))))
	for i := 2; i < 6; i++ {
		assert.Less(t, at[i], time.Millisecond, "there is room for four")
	}
	passed := 0
	for _, d := range at[2:] {
		if d < at[1] {
			passed++
		}
	}
	assert.Equal(t, 5, passed, "five take as much as it wants")
	assert.Equal(t, 6*time.Second, at[1].Round(time.Millisecond), "50 for those that passed and 50 of its own, less the 40 that were there")
}

// Two units: calls without tokens are not held up by one that waits for tokens, nor is what they need left unused.
func TestWaitingForOneUnitHoldsUpNoOther(t *testing.T) {
	errands := []errand{
		{at: 1, cost: budget.Cost{budget.Tokens: 100}},
		{at: 2, cost: budget.Cost{budget.Tokens: 100}}, // a minute
	}
	errands = append(errands, row(10, 3, 1, errand{})...)
	left := play(t, errands, WithPolicies(budget.PerMinute(100).Of(budget.Tokens), budget.PerSecond(2).WithBurst(2)))
	at := whenLeft(len(errands), left)
	assert.Equal(t, time.Minute+1, at[1])
	assert.Less(t, at[11], 6*time.Second, "ten at two a second")
}

func TestPriorityComesBeforeArrival(t *testing.T) {
	errands := row(30, time.Millisecond, time.Millisecond, errand{})
	for i := range errands {
		errands[i].priority = i % 3
	}
	at := whenLeft(30, play(t, errands, WithPolicies(budget.PerSecond(10).WithBurst(1))))
	for i := 1; i < 30; i++ { // the first left before anybody else was there
		for j := i + 1; j < 30; j++ {
			first := at[i] < at[j]
			assert.Equal(t, errands[i].priority >= errands[j].priority, first, "%d and %d", i, j)
		}
	}
}

func TestBackgroundWorkTakesWhatIsLeft(t *testing.T) {
	errands := append(row(5, 2, 1, errand{priority: -1}), row(20, time.Second, 50*time.Millisecond, errand{})...)
	errands[0].at = 1
	at := whenLeft(25, play(t, errands, WithPolicies(budget.PerSecond(10).WithBurst(1))))
	assert.Less(t, at[4], time.Second)
	for i := 5; i < 25; i++ {
		assert.LessOrEqual(t, at[i]-errands[i].at, time.Duration(i-4)*50*time.Millisecond)
	}
}

// A call that was sent and refused goes ahead of those that were never sent.
func TestRefusedCallsGoAheadOfNewcomers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(script(reply{}, reply{status: 429, header: map[string]string{"Retry-After": "10"}}))
		c, _ := client(t, s, WithPolicies(budget.PerSecond(1).WithBurst(1)))
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				_, _, err := get(c, api+"?n="+itoa(i))
				assert.NoError(t, err)
			})
			time.Sleep(10 * time.Millisecond)
		}
		wg.Wait()
		order := ""
		for _, h := range s.hits {
			order += h.req.URL.Query().Get("n")
		}
		assert.Equal(t, "0112345", order)
	})
}

// A queue of blocked calls to one route holds up nobody else of the same key, however long it is.
func TestBlockedRouteHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		c, tr := client(t, s, WithRoute("/search/", budget.PerMinute(1)), WithPolicies(budget.PerSecond(100).WithBurst(5)))
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		search := func() { wg.Go(func() { _, _, _ = do(c, ctx, http.MethodGet, "http://api.example/search/x", "") }) }
		_, _, err := get(c, api) // first contact
		require.NoError(t, err)
		for range 500 {
			search()
		}
		synctest.Wait()
		state, _ := tr.State("api.example")
		require.Equal(t, 499, state.Waiting)
		start := time.Now()
		flood(t, c, 105, api)
		assert.Less(t, time.Since(start), 1100*time.Millisecond)
		cancel()
		wg.Wait()
	})
}

// Neither does a full queue refuse a call that need not wait, nor one that was sent before.
func TestFullQueueOfOneRouteRefusesNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tr := client(t, newServer(always), WithRoute("/search/", budget.PerMinute(1)), WithMaxQueue(2))
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		_, _, err := get(c, "http://api.example/search/")
		require.NoError(t, err)
		for range 2 {
			wg.Go(func() { _, _, _ = do(c, ctx, http.MethodGet, "http://api.example/search/x", "") })
		}
		synctest.Wait()
		_, _, err = get(c, "http://api.example/search/y")
		assert.ErrorIs(t, err, ErrQueueFull)
		_, _, err = get(c, api)
		assert.NoError(t, err)
		state, _ := tr.State("api.example")
		assert.Equal(t, 2, state.Waiting)
		cancel()
		wg.Wait()
	})
}
