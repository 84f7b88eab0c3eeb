package throttle

import (
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

// PAC-20: the estimate is settled by the truth, once.
func TestSettlingGivesBackOrMakesDebt(t *testing.T) {
	opts := []Option{WithPolicies(budget.PerMinute(1000).Of(budget.Tokens).WithBurst(1000))}
	t.Run("too much", func(t *testing.T) {
		inBubble(t, opts, func(t *testing.T, tr *Transport) {
			for range 10 {
				p, at := take(t, tr, Call{Cost: tokens(500)})
				p.Settle(tokens(100))
				p.Done()
				assert.Less(t, at, 30*time.Second)
			}
		})
	})
	t.Run("too little", func(t *testing.T) {
		inBubble(t, opts, func(t *testing.T, tr *Transport) {
			for _, want := range []time.Duration{0, 0, 3 * time.Second, 33 * time.Second} {
				p, at := take(t, tr, Call{Cost: tokens(50)})
				p.Settle(tokens(500))
				p.Done()
				assert.Equal(t, want, at)
			}
		})
	})
	t.Run("unknown", func(t *testing.T) {
		inBubble(t, opts, func(t *testing.T, tr *Transport) {
			for _, want := range []time.Duration{0, 0, 30 * time.Second} {
				p, at := take(t, tr, Call{Cost: tokens(500)})
				p.Settle(nil)
				p.Done()
				assert.Equal(t, want, at)
			}
		})
	})
	t.Run("twice", func(t *testing.T) {
		inBubble(t, opts, func(t *testing.T, tr *Transport) {
			p, _ := take(t, tr, Call{Cost: tokens(500)})
			p.Done()
			p.Settle(tokens(100))
			p.Settle(tokens(0))
			assert.Equal(t, 900.0, available(t, tr, ""))
		})
	})
	t.Run("then cancelled", func(t *testing.T) {
		inBubble(t, opts, func(t *testing.T, tr *Transport) {
			take(t, tr, Call{Cost: tokens(600)})
			p, _ := take(t, tr, Call{Cost: tokens(300)})
			p.Settle(tokens(100))
			p.Cancel()
			p.Cancel()
			p.Done()
			p.Settle(tokens(0))
			assert.Equal(t, 400.0, available(t, tr, ""), "what was given back once is not given back again")
		})
	})
	t.Run("wakes", func(t *testing.T) {
		inBubble(t, opts, func(t *testing.T, tr *Transport) {
			p, _ := take(t, tr, Call{Cost: tokens(1000)})
			time.AfterFunc(7*time.Second, func() { p.Settle(tokens(10)) })
			_, at := take(t, tr, Call{Cost: tokens(900)})
			assert.Equal(t, 7*time.Second, at)
		})
	})
}

// The response itself is the handle under HTTP.
func TestSettleByResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cost := func(*http.Request) budget.Cost { return tokens(400) }
		c, tr := client(t, newServer(always), WithCost(cost), WithKey(func(*http.Request) string { return "k" }), WithPolicies(budget.PerMinute(1000).Of(budget.Tokens)))
		resp, _, err := get(c, api)
		require.NoError(t, err)
		assert.Equal(t, 600.0, available(t, tr, ""))
		assert.True(t, Settle(resp, tokens(250)))
		assert.False(t, Settle(resp, tokens(0)))
		assert.Equal(t, 750.0, available(t, tr, ""))
	})
}

// What was reserved in vain is told: it is what a lower estimate would free.
func TestOverReservationIsTold(t *testing.T) {
	opts := []Option{WithPolicies(budget.PerMinute(1000).Of(budget.Tokens), budget.PerMinute(100))}
	inBubble(t, opts, func(t *testing.T, tr *Transport) {
		over := func() float64 { return budgetOf(t, tr, "k", "").OverReservation }
		open, _ := take(t, tr, Call{Cost: tokens(200)})
		assert.Zero(t, over(), "nothing was settled yet")
		p, _ := take(t, tr, Call{Cost: tokens(300)})
		p.Settle(tokens(100))
		assert.InDelta(t, 3, over(), 1e-9)
		p, _ = take(t, tr, Call{Cost: tokens(100)})
		p.Settle(tokens(150))
		assert.InDelta(t, 1.6, over(), 1e-9, "400 reserved and 250 used; the open call does not count")
		open.Done()
		s, _ := tr.State("k")
		assert.Zero(t, s.Budgets[1].OverReservation, "of requests nothing is ever settled")
		text, err := json.Marshal(s.Budgets[0])
		require.NoError(t, err)
		assert.Contains(t, string(text), `"over_reservation":1.6`)
	})
}

func TestWeightsInRequestsCountAfterTheFirstAnswerToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tr := client(t, newServer(always), WithPolicies(budget.PerMinute(100).Using(budget.SlidingLog)),
			WithCost(func(*http.Request) budget.Cost { return budget.Cost{budget.Requests: 5} }))
		for range 4 {
			prompt(t, c, api, time.Second)
		}
		s, _ := tr.State("api.example")
		assert.Equal(t, 20.0, s.Budgets[0].Used)
	})
}

// A permit may be settled before it is done: it is under way until then, and not after.
func TestAPermitMayBeSettledBeforeItIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tr := client(t, newServer(func(int, *http.Request) reply {
			return reply{header: fields("X-RateLimit-Limit-Tokens", "1000", "X-RateLimit-Remaining-Tokens", "1000", "X-RateLimit-Reset-Tokens", "1h0m0s")}
		}))
		prompt(t, c, api, time.Second)
		for range 10 {
			p, err := tr.Acquire(t.Context(), Call{Key: "api.example", Cost: tokens(400), MaxWait: NoWait})
			require.NoError(t, err)
			p.Settle(tokens(40))
			p.Done()
		}
		assert.Equal(t, 600.0, budgetOf(t, tr, "api.example", "").Available)
	})
}
