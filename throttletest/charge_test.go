package throttletest

import (
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

func TestADebtConcernsOnlyThoseWhoUseTheUnit(t *testing.T) {
	p := newPlay(t, WithCharge(ChargeUsed), WithOutputTokens(50, 0),
		WithLimits(FixedWindow(10, time.Minute).Of(budget.OutputTokens), FixedWindow(20, time.Minute).Of(budget.InputTokens)))
	assert.Equal(t, []Reason{Admitted, OverLimit, Admitted}, p.reasons(0, 1, 60))
	assert.Equal(t, budget.OutputTokens, p.at(61*time.Second, request("{}")).unit, "the least that it can use is a token")
	assert.Equal(t, Admitted, p.at(62*time.Second, request("not JSON")).reason, "and this uses none")
}

func TestOnlyAICallsCostTokens(t *testing.T) {
	u := NewUpstream(WithOutputTokens(50, 0), WithLatency(Latency{PerToken: time.Second}))
	for body, output := range map[string]float64{"": 0, "not JSON": 0, "[1]": 0, "{}": 50, `{"max_tokens":7}`: 7} {
		k, err := u.open(request(body))
		require.NoError(t, err)
		assert.Equal(t, output, k.output, body)
		assert.Equal(t, output, amount(k.charged, budget.Tokens), body)
		assert.Equal(t, 1.0, amount(k.charged, budget.Requests), body)
		assert.Equal(t, time.Duration(output)*time.Second, k.service, body)
	}
}

func TestRefusedCallsAreNotSettled(t *testing.T) {
	p := newPlay(t, WithCharge(ChargeSettled), WithOutputTokens(10, 0), WithLimits(FixedWindow(100, time.Minute).Of(budget.Tokens)))
	ask := request(`{"max_tokens":60}`)
	assert.Equal(t, Admitted, p.at(0, ask).reason)
	ask = request(`{"max_tokens":95}`)
	for range 3 {
		assert.Equal(t, OverLimit, p.at(0, ask).reason, "90 are left")
		ask = request(`{"max_tokens":95}`)
	}
}

func TestWhoComesBeforeASettlementIsServedBeforeIt(t *testing.T) {
	u := NewUpstream(WithCharge(ChargeUsed), WithOutputTokens(500, 0), WithLimits(FixedWindow(100, time.Hour).Of(budget.Tokens)),
		WithForeign(Foreign{Gap: Constant(4 * time.Second), Cost: budget.Cost{budget.Tokens: 1}}))
	k, err := u.open(request("{}"))
	require.NoError(t, err)
	v := u.brain.arrive(dawn, 1, k, nil)
	u.brain.settle(dawn.Add(9*time.Second), &v, k)
	assert.Equal(t, Count{Arrivals: 5, Admitted: 2, Refused: 3}, u.brain.stats(dawn.Add(20*time.Second)).Foreign)
}

func TestChargesOfAICalls(t *testing.T) {
	body := `{"max_completion_tokens":100,"max_tokens":7,"messages":[{"role":"user","content":"` + strings.Repeat("x", 40) + `"}]}`
	for name, c := range map[string]struct {
		opts       []Option
		soon, late float64 // drawn of the tokens on arrival and in the end
	}{
		"the most":      {[]Option{WithCharge(ChargeMax)}, 110, 110},
		"settled":       {[]Option{WithCharge(ChargeSettled)}, 110, 26},
		"used":          {[]Option{WithCharge(ChargeUsed)}, 10, 26},
		"cost function": {[]Option{WithCost(func(*http.Request, []byte) budget.Cost { return budget.Cost{budget.Tokens: 5} })}, 5, 5},
	} {
		t.Run(name, func(t *testing.T) {
			u := NewUpstream(append(c.opts, WithLimits(FixedWindow(1000, time.Minute).Of(budget.Tokens)))...)
			k, err := u.open(request(body))
			require.NoError(t, err)
			v := u.brain.arrive(dawn, 1, k, nil)
			left := func() float64 { return v.pool.counters[0].law.state(dawn).left }
			assert.Equal(t, 1000-c.soon, left())
			for range 2 { // the second changes nothing
				u.brain.settle(dawn, &v, k)
				assert.Equal(t, 1000-c.late, left())
			}
		})
	}
}

func TestACostFunctionHasTheLastWord(t *testing.T) {
	for _, c := range []struct {
		cost float64
		want Reason
	}{{1000, Admitted}, {1001, OverLimit}} {
		p := newPlay(t, WithCharge(ChargeSettled), WithLimits(FixedWindow(1000, time.Minute).Of(budget.Tokens)),
			WithCost(func(*http.Request, []byte) budget.Cost { return budget.Cost{budget.Tokens: c.cost} }))
		v := p.at(0, request(`{"max_tokens":5}`))
		assert.Equal(t, c.want, v.reason)
		if c.want == Admitted {
			assert.Zero(t, v.pool.counters[0].law.state(dawn).left, "and nothing is settled")
		}
	}
}

func TestCostsBelowZeroAreNothing(t *testing.T) {
	costs := []budget.Cost{{budget.Requests: -5}, {budget.Requests: math.NaN()}, {budget.Requests: 0}, {budget.Requests: 2}, {"other": 3}, nil}
	p := newPlay(t, WithLimits(FixedWindow(3, time.Minute)), WithCost(func(r *http.Request, _ []byte) budget.Cost {
		return costs[len(r.Header.Get("At"))]
	}))
	for i, left := range []float64{3, 3, 3, 1, 0} {
		v := p.at(0, request("", "At", strings.Repeat("x", i)))
		assert.Equal(t, Admitted, v.reason)
		assert.Equal(t, left, v.pool.counters[0].law.state(v.at).left)
	}
	assert.Equal(t, OverLimit, p.at(0, request("", "At", "xxxxx")).reason)
}

func TestACallThatNamesNoMostIsChargedTheMean(t *testing.T) {
	u := NewUpstream(WithOutputTokens(300, 0.5))
	k, err := u.open(request(`{"prompt":"abcd"}`))
	require.NoError(t, err)
	assert.Equal(t, 301.0, k.charged[budget.Tokens])
	assert.NotEqual(t, 300.0, k.output)
}

// What calls were charged is what they used once they have ended, and a debt is as deep as they went past the limit.
func TestSpentAndOwed(t *testing.T) {
	for name, c := range map[string]struct {
		how         Charge
		early, late float64 // output tokens spent while two calls are open, and after they have ended
		debt        float64
	}{
		"on arrival": {ChargeMax, 160, 160, 0},
		"settled":    {ChargeSettled, 160, 60, 0},
		"used":       {ChargeUsed, 0, 60, 20},
	} {
		t.Run(name, func(t *testing.T) {
			limit := map[Charge]float64{ChargeUsed: 40}[c.how]
			if limit == 0 {
				limit = 160
			}
			u := NewUpstream(WithCharge(c.how), WithOutputTokens(30, 0), WithLimits(FixedWindow(limit, time.Hour).Of(budget.OutputTokens)))
			var calls []*call
			var verdicts []*verdict
			for range 2 {
				k, err := u.open(request(`{"max_tokens":80}`))
				require.NoError(t, err)
				calls, verdicts = append(calls, k), append(verdicts, u.arrive(k))
			}
			assert.Equal(t, c.early, u.Stats().Spent[budget.OutputTokens])
			for i, v := range verdicts {
				u.finish(v, calls[i])
			}
			assert.Equal(t, c.late, u.Stats().Spent[budget.OutputTokens])
			assert.Equal(t, 2.0, u.Stats().Spent[budget.Requests])
			assert.Equal(t, c.debt, u.Stats().Debt[budget.OutputTokens])
		})
	}
	u := NewUpstream(WithLimits(FixedWindow(1, time.Hour)))
	for range 3 {
		k, err := u.open(request("no JSON"))
		require.NoError(t, err)
		u.arrive(k)
	}
	assert.Equal(t, budget.Cost{budget.Requests: 1}, u.Stats().Spent, "a refused call is charged nothing")
}
