package llm

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

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
