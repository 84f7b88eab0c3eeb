package llm

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

func TestBeforeAnythingWasSeen(t *testing.T) {
	for _, c := range []struct {
		p    Prompt
		want Tokens
	}{
		{Prompt{}, Tokens{Input: 4, Output: 512, Total: 516}},
		{Prompt{Chars: 400}, Tokens{Input: 104, Output: 512, Total: 616}},
		{Prompt{Chars: 400, MaxOutput: 50}, Tokens{Input: 104, Output: 50, Total: 154}},
		{Prompt{Chars: 400, MaxOutput: 50, Answers: 3}, Tokens{Input: 104, Output: 150, Total: 254}},
		{Prompt{Answers: 2}, Tokens{Input: 4, Output: 1024, Total: 1028}},
		{Prompt{Images: 2, MaxOutput: 1}, Tokens{Input: 2004, Output: 1, Total: 2005}},
	} {
		assert.Equal(t, c.want, NewEstimator().Estimate(c.p), "%+v", c.p)
	}
}

// A job in a language of two bytes a token: after some answers the estimate of the prompt is right to a twentieth.
func TestTheRatioIsLearned(t *testing.T) {
	e := NewEstimator()
	p := Prompt{Model: "m", Chars: 600, MaxOutput: 10}
	for range 50 {
		e.Observe(p, Tokens{Input: 304, Output: 5})
	}
	assert.InEpsilon(t, 304, e.Estimate(p).Input, 0.05)
	for range 500 { // then the texts change
		e.Observe(p, Tokens{Input: 104, Output: 5})
	}
	assert.InEpsilon(t, 104, e.Estimate(p).Input, 0.05)
}

func TestImagesDoNotTeachTheRatio(t *testing.T) {
	e := NewEstimator()
	for range 100 {
		e.Observe(Prompt{Chars: 40, Images: 1}, Tokens{Input: 1500, Output: 5})
	}
	assert.Equal(t, 104, e.Estimate(Prompt{Chars: 400}).Input)
}

// Most answers stay far below their limit; the estimate covers all but some 8 % of them.
func TestTheOutputQuantileIsLearned(t *testing.T) {
	e, random := NewEstimator(), rand.New(rand.NewPCG(1, 2))
	p := Prompt{Model: "m", Chars: 100, MaxOutput: 4096}
	for range 1000 {
		e.Observe(p, Tokens{Input: 29, Output: 1 + random.IntN(200)})
	}
	assert.InDelta(t, 184, e.Estimate(p).Output, 20)
	assert.Equal(t, 16, e.Estimate(Prompt{Model: "m", MaxOutput: 16}).Output, "the call's own limit stays the most")
	assert.InDelta(t, 184, e.Estimate(Prompt{Model: "m"}).Output, 20)
	for range 200 {
		e.Observe(p, Tokens{Input: 29, Output: 1000})
	}
	assert.Equal(t, 1000, e.Estimate(p).Output)
}

func TestFewAnswersAreNotTrusted(t *testing.T) {
	e := NewEstimator()
	p := Prompt{Model: "m", MaxOutput: 300}
	for range enough - 1 {
		e.Observe(p, Tokens{Input: 10, Output: 1})
	}
	assert.Equal(t, 300, e.Estimate(p).Output)
	e.Observe(p, Tokens{Input: 10, Output: 1})
	assert.Equal(t, 1, e.Estimate(p).Output)
}

func TestModelsLearnByThemselves(t *testing.T) {
	e := NewEstimator()
	for range 20 {
		e.Observe(Prompt{Model: "a"}, Tokens{Input: 10, Output: 7})
	}
	assert.Equal(t, 7, e.Estimate(Prompt{Model: "a"}).Output)
	assert.Equal(t, priorOutput, e.Estimate(Prompt{Model: "b"}).Output)
}

func TestModelsAreBounded(t *testing.T) {
	e := NewEstimator()
	for i := range 3 * maxModels {
		e.Observe(Prompt{Model: strconv.Itoa(i)}, Tokens{Input: 10, Output: 7})
	}
	assert.LessOrEqual(t, len(e.models), maxModels+1)
	assert.Equal(t, 7, e.Estimate(Prompt{Model: "one more"}).Output, "models beyond the bound share what they learn")
}

func TestAnEstimateIsACost(t *testing.T) {
	assert.Equal(t, budget.Cost{budget.Tokens: 154, budget.InputTokens: 104, budget.OutputTokens: 50},
		NewEstimator().Estimate(Prompt{Chars: 400, MaxOutput: 50}).Cost())
}

func TestManyMayAskAtOnce(t *testing.T) {
	e := NewEstimator()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 100 {
				p := Prompt{Model: strconv.Itoa(i % 3), Chars: 100}
				e.Observe(p, Tokens{Input: e.Estimate(p).Input, Output: 3})
			}
		})
	}
	all.Wait()
	assert.Equal(t, 3, e.Estimate(Prompt{Model: "0"}).Output)
}

// What a call allows is reserved whole where the service charges it, and told by its headers that it does; what it has not used stays spent.
func TestServicesThatChargeTheMostThatACallAllows(t *testing.T) {
	usage := []byte(`{"usage":{"prompt_tokens":20,"completion_tokens":40,"total_tokens":60}}`)
	for name, c := range map[string]struct {
		header string
		body   string
		output float64 // reserved afterwards
		given  bool
	}{
		"OpenAI":             {"X-Ratelimit-Limit-Tokens", `{"model":"m","max_tokens":400}`, 400, false},
		"remaining alone":    {"X-Ratelimit-Remaining-Tokens", `{"model":"m","max_tokens":400}`, 400, false},
		"no limit in it":     {"X-Ratelimit-Limit-Tokens", `{"model":"m"}`, 40, true},
		"Anthropic":          {"Anthropic-Ratelimit-Output-Tokens-Limit", `{"model":"m","max_tokens":400}`, 40, true},
		"requests, not more": {"X-Ratelimit-Limit-Requests", `{"model":"m","max_tokens":400}`, 40, true},
	} {
		t.Run(name, func(t *testing.T) {
			e := NewEstimator()
			req, err := http.NewRequest(http.MethodPost, "https://api.example/v1/chat/completions", strings.NewReader(c.body))
			require.NoError(t, err)
			resp := &http.Response{Request: req, Header: http.Header{c.header: {"90000"}}}
			for range 2 * enough {
				assert.Equal(t, c.given, e.Usage(resp, usage) != nil)
			}
			assert.Equal(t, c.output, e.Cost(req)[budget.OutputTokens])
		})
	}
}

func TestHoldMost(t *testing.T) {
	e := NewEstimator().HoldMost()
	for range 2 * enough {
		e.Observe(Prompt{Model: "m", MaxOutput: 300}, Tokens{Input: 10, Output: 30})
	}
	assert.Equal(t, 300, e.Estimate(Prompt{Model: "m", MaxOutput: 300}).Output)
	assert.Equal(t, 600, e.Estimate(Prompt{Model: "m", MaxOutput: 300, Answers: 2}).Output)
	assert.Equal(t, 30, e.Estimate(Prompt{Model: "m"}).Output, "nothing says what the most is")
}

func TestOverReservation(t *testing.T) {
	e := NewEstimator()
	assert.Zero(t, e.OverReservation("m"))
	p := Prompt{Model: "m", MaxOutput: 300}
	e.Observe(p, Tokens{Input: 10, Output: 30})
	assert.InDelta(t, 10, e.OverReservation("m"), 1e-9)
	for range 10_000 {
		e.Observe(p, Tokens{Input: 10, Output: 30})
	}
	assert.InDelta(t, 1, e.OverReservation("m"), 0.02, "once the lengths are known")
	assert.Zero(t, e.OverReservation("other"))
}
