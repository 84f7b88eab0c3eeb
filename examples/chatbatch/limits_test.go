package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

// most is the largest number of admissions within any span of that length.
func most(arrivals []throttletest.Arrival, span time.Duration) (n int) {
	first := 0
	for i, a := range arrivals {
		for a.At.Sub(arrivals[first].At) >= span {
			first++
		}
		n = max(n, i-first+1)
	}
	return n
}

// A cookbook file of 10,000 lines at a declared rate: no refusal by a server that looks at any 60 s, no failed line although the budget is
// empty most of the time, and hardly longer than the limits allow.
func TestTenThousandLinesAtADeclaredRate(t *testing.T) {
	virtual(t, func(t *testing.T) {
		const n, rpm = 10_000, 600
		var in strings.Builder
		for i := range n {
			fmt.Fprintf(&in, `{"model":"m","messages":[{"role":"user","content":"Question %d"}],"max_tokens":16,"metadata":{"row":%d}}`+"\n", i, i)
		}
		up := calm(throttletest.WithLimits(throttletest.SlidingLog(rpm, time.Minute)))
		d := newProgram(t, in.String(), up).send(t, "-rpm", "600", "-tpm", "1000000")
		require.Equal(t, exitDone, d.code, d.stderr)
		assert.Len(t, d.byID(t), n)
		s := up.Stats()
		assert.Equal(t, n, s.Arrivals)
		assert.Zero(t, s.Refused)
		assert.LessOrEqual(t, most(up.Arrivals(), time.Minute), rpm)
		least := floor(n, rpm, time.Minute)
		assert.GreaterOrEqual(t, d.took, least)
		assert.Less(t, d.took, least*103/100)
	})
}

// A misspelt model would leave the right one without a limit.
func TestALimitForAModelThatNobodyAsksFor(t *testing.T) {
	virtual(t, func(t *testing.T) {
		const says = `warning: -limit "M": no request is for that model`
		p := newProgram(t, requests(2), calm())
		p.stdin = requests(2)
		limits := []string{"-limit", "M=600/minute", "-limit", "m=600/minute"}
		for _, args := range [][]string{{"-n", "-i", p.input}, {"-n", "-"}, {"-q", "-i", p.input, "-url", apiHost}, {"-q", "-url", apiHost, "-"}} {
			d := p.start(t, append(append([]string{}, limits...), args...)...)
			assert.Equal(t, exitDone, d.code, d.stderr)
			assert.Equal(t, 1, strings.Count(d.stderr, "warning"), d.stderr)
			assert.Contains(t, d.stderr, says)
		}
	})
}

// PAC-26: want of budget is a wait and never a failure. 10,000 requests of 500 tokens at 60,000 a minute take 83 minutes and a little.
func TestTokensAsTheTighterLimit(t *testing.T) {
	virtual(t, func(t *testing.T) {
		const n, tpm = 10_000, 60_000
		up := calm(
			throttletest.WithLimits(throttletest.SlidingLog(600, time.Minute), throttletest.SlidingLog(tpm, time.Minute).Of(budget.Tokens)),
			throttletest.WithCost(func(*httpRequest, []byte) budget.Cost { return budget.Cost{budget.Tokens: 500} }),
			throttletest.WithAnswer(func(*httpRequest, []byte) []byte {
				return []byte(`{"object":"chat.completion","choices":[],"usage":{"prompt_tokens":400,"completion_tokens":100,"total_tokens":500}}`)
			}),
		)
		text := strings.Repeat("word ", 320)
		var in strings.Builder
		for i := range n {
			fmt.Fprintf(&in, `{"custom_id":"%d","body":{"model":"m","messages":[{"role":"user","content":"%s"}],"max_tokens":100}}`+"\n", i, text)
		}
		d := newProgram(t, in.String(), up).send(t, "-rpm", "600", "-tpm", "60000")
		require.Equal(t, exitDone, d.code, d.stderr)
		assert.Equal(t, n, d.answered())
		assert.Zero(t, up.Stats().Refused)
		assert.GreaterOrEqual(t, d.took, 82*time.Minute)
		assert.LessOrEqual(t, d.took, 85*time.Minute)
	})
}

// With twice the real limit declared, the server's word wins: few refusals, nothing lost, nothing doubled.
func TestWrongFlags(t *testing.T) {
	virtual(t, func(t *testing.T) {
		const n = 1_500
		up := calm(throttletest.WithLimits(throttletest.SlidingLog(300, time.Minute)))
		d := newProgram(t, requests(n), up).send(t, "-rpm", "600")
		require.Equal(t, exitDone, d.code, d.stderr)
		assert.Equal(t, n, d.answered())
		assert.Len(t, d.byID(t), n)
		s := up.Stats()
		assert.Equal(t, n, s.Admitted)
		assert.Less(t, s.Refused, n/10)
	})
}

// Without flags the limits are learned from the headers: no refusal at all.
func TestNoFlagsButHeaders(t *testing.T) {
	virtual(t, func(t *testing.T) {
		const n = 1_500
		up := calm(throttletest.WithLimits(throttletest.FixedWindow(300, time.Minute)), throttletest.WithDialect(headers.XRateLimit))
		d := newProgram(t, requests(n), up).send(t)
		require.Equal(t, exitDone, d.code, d.stderr)
		assert.Equal(t, n, d.answered())
		assert.Zero(t, up.Stats().Refused)
	})
}

// Without flags and headers, refusals and their Retry-After are all there is: every request is answered in the end.
func TestNeitherFlagsNorHeaders(t *testing.T) {
	virtual(t, func(t *testing.T) {
		const n = 800
		up := calm(throttletest.WithLimits(throttletest.FixedWindow(200, time.Minute)))
		d := newProgram(t, requests(n), up).send(t)
		require.Equal(t, exitDone, d.code, d.stderr)
		assert.Equal(t, n, d.answered())
		assert.Len(t, d.byID(t), n)
		assert.Equal(t, n, up.Stats().Admitted)
	})
}

// A request that no budget can ever hold fails with a clear word, and does not stand in the way of the others.
func TestARequestAboveTheWholeTokenLimit(t *testing.T) {
	virtual(t, func(t *testing.T) {
		big := `{"custom_id":"big","body":{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("word ", 20_000) + `"}],"max_tokens":10}}`
		up := calm()
		d := newProgram(t, requests(5)+big+"\n"+request("last", "x")+"\n", up).send(t, "-tpm", "10000")
		assert.Equal(t, exitSomeFailed, d.code)
		all := d.byID(t)
		assert.Equal(t, "cost_too_large", all["big"].Error.Code)
		assert.Zero(t, all["big"].Attempts)
		assert.Equal(t, 200, all["last"].Response.StatusCode)
		assert.Equal(t, 6, up.Stats().Arrivals)
		assert.Contains(t, d.stderr, "1 × cost_too_large")
	})
}

func TestEachModelHasLimitsOfItsOwn(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var in strings.Builder
		for i := range 120 {
			model := []string{"small", "large"}[i%2]
			fmt.Fprintf(&in, `{"custom_id":"%d","body":{"model":"%s","messages":[]}}`+"\n", i, model)
		}
		byModel := map[string][]time.Time{}
		d := newProgram(t, in.String(), calm()).send(t, "-limit", "small=30/minute", "-limit", "10/second burst 1", "-concurrency", "120")
		require.Equal(t, exitDone, d.code, d.stderr)
		for _, r := range d.out {
			model := map[bool]string{true: "large", false: "small"}[r.Line%2 == 0]
			byModel[model] = append(byModel[model], r.SentAt)
		}
		assert.GreaterOrEqual(t, span(byModel["small"]), time.Minute, "60 at 30 a minute")
		assert.InDelta(t, 5.9, span(byModel["large"]).Seconds(), 1.0, "60 at 10 a second")
	})
}

func span(at []time.Time) time.Duration {
	first, last := at[0], at[0]
	for _, a := range at {
		if a.Before(first) {
			first = a
		}
		if a.After(last) {
			last = a
		}
	}
	return last.Sub(first)
}

func TestPoliciesOfAModel(t *testing.T) {
	s, err := parseFlags([]string{"-rpm", "500", "-tpm", "9000", "-rpd", "7", "-limit", "gpt=x=50/minute", "-limit", "5/second"}, nil)
	require.NoError(t, err)
	daily := budget.PerDay(7).Of(dailyRequests)
	tokens := budget.PerMinute(9000).Of(budget.Tokens)
	assert.Equal(t, []budget.Policy{budget.PerMinute(500), tokens, budget.PerSecond(5), daily}, s.policiesOf("other"))
	assert.Equal(t, []budget.Policy{budget.PerMinute(50), tokens, daily}, s.policiesOf("gpt=x"))
	got, err := s.policyFunc("api.example#1234 gpt=x", nil)
	require.NoError(t, err)
	assert.Equal(t, s.policiesOf("gpt=x"), got)
}

// What earlier runs sent within the day counts.
func TestTheDaysRequestsGoOnOverAResume(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm()
		p := newProgram(t, requests(30), up)
		d := p.send(t, "-rpd", "20")
		assert.Equal(t, exitStopped, d.code)
		assert.Equal(t, 20, d.answered())
		assert.Equal(t, 20, up.Stats().Arrivals)
		assert.Contains(t, d.stderr, "go on after")

		time.Sleep(time.Hour)
		d = p.send(t, "-rpd", "25")
		assert.Equal(t, exitStopped, d.code)
		assert.Equal(t, 25, d.answered(), d.stderr)

		time.Sleep(25 * time.Hour)
		d = p.send(t, "-rpd", "20")
		assert.Equal(t, exitDone, d.code, d.stderr)
		assert.Len(t, d.byID(t), 30)
		assert.Equal(t, 30, up.Stats().Arrivals)
	})
}

func TestFloor(t *testing.T) {
	assert.Equal(t, time.Duration(0), floor(100, 100, time.Minute))
	assert.Equal(t, time.Minute, floor(200, 100, time.Minute))
	assert.Equal(t, time.Duration(0), floor(200, 0, time.Minute))
}
