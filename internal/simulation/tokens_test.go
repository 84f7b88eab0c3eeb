package simulation

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
	"github.com/seed-18ca0a92/throttle/llm"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

// Answers of an AI service: 300 tokens on average with a long tail, 4096 allowed, and ten seconds to write the average one.
const (
	outputMean   = 300
	outputTail   = 0.8
	outputMost   = 4096
	perToken     = 10 * time.Second / outputMean
	outputQuota  = 100_000 // per minute
	outputBurst  = outputQuota / 6
	outputRate   = outputQuota / 60. // per second
	outputPlenty = 128               // workers: twice as many as the quota feeds
)

// chat is a body that allows much more than the answer will have.
func chat(uint64, int) string {
	return fmt.Sprintf(`{"model":"m","max_tokens":%d,"messages":[{"role":"user","content":"Name one river that flows north."}]}`, outputMost)
}

// ai is a server of such answers.
func ai(charge throttletest.Charge, o ...throttletest.Option) []throttletest.Option {
	return append(o, throttletest.WithCharge(charge), throttletest.WithOutputTokens(outputMean, outputTail),
		throttletest.WithLatency(throttletest.Latency{Network: oneWay, Jitter: throttletest.Uniform(0, usualJitter), PerToken: perToken, Refusal: refusalTime}))
}

// outputTime is the least time for the output that there was.
func outputTime(f figures) time.Duration {
	return time.Duration((f.stats.Spent[budget.OutputTokens]-outputBurst)/outputRate*float64(time.Second)) + outputMean*perToken
}

// outputUse is which part of the output that the quota allows, while calls were still to be made, has been had.
func outputUse(f figures) float64 {
	last := f.arrivals[len(f.arrivals)-1].At
	answered := 0
	for _, m := range f.calls {
		if m.done.Before(last) {
			answered++
		}
	}
	return f.stats.Spent[budget.OutputTokens] * float64(answered) / float64(len(f.calls)) / (last.Sub(f.start).Seconds() * outputRate)
}

// thrifty holds output that is estimated and then settled to its use and its debt, as means over the runs: so much of the quota, and no more
// than a second's worth.
func thrifty(least float64) func(*testing.T, []figures) {
	return func(t *testing.T, all []figures) {
		var use, debt float64
		for _, f := range all {
			use += outputUse(f) / float64(len(all))
			debt += f.stats.Debt[budget.OutputTokens] / float64(len(all))
		}
		assert.GreaterOrEqual(t, use, least, "use")
		assert.LessOrEqual(t, debt, outputRate, "debt at the server")
	}
}

// overReservation is how many tokens of a unit were reserved for each that was used.
func overReservation(f figures, unit string) float64 {
	for _, b := range f.budgets {
		if b.Unit == unit {
			return b.OverReservation
		}
	}
	return 0
}

// tellOutput tells, of a row with output tokens, what its columns do not.
func tellOutput(unit string) func(all []figures) string {
	return func(all []figures) string {
		var use, over, debt float64
		for _, f := range all {
			use += outputUse(f) / float64(len(all))
			over += overReservation(f, unit) / float64(len(all))
			debt = max(debt, f.stats.Debt[unit])
		}
		return fmt.Sprintf("use of the tokens %.3f, reserved for each used %.2f, deepest debt at the server %.0f tokens", use, over, debt)
	}
}

// mostQuota is the quota of tokens per minute where the most that a call allows is charged, or held: ten times as high, since that is more than ten
// times what an answer has.
const mostQuota = 10 * outputQuota

var chargedMost = limits(throttletest.TokenBucket(mostQuota, window, mostQuota/6).Of(budget.Tokens))

// mostTime is the least time for the tokens that were charged, and for the workers.
func mostTime(f figures) time.Duration {
	tokens := time.Duration((f.stats.Spent[budget.Tokens]-mostQuota/6)/mostQuota*float64(window)) + outputMean*perToken
	return max(tokens, time.Duration(len(f.calls)/f.workers)*outputMean*perToken)
}

// tellReserved tells how much of a unit was reserved.
func tellReserved(unit string) func(all []figures) string {
	return func(all []figures) string {
		var over float64
		for _, f := range all {
			over += overReservation(f, unit) / float64(len(all))
		}
		return fmt.Sprintf("reserved for each token used %.2f", over)
	}
}

func holdMost() throttle.Option { return llm.NewEstimator().HoldMost().Preset() }

var tokenScenarios = []scenario{
	{name: "output tokens, declared", server: ai(throttletest.ChargeUsed, limits(throttletest.TokenBucket(outputQuota, window, outputBurst).Of(budget.OutputTokens))),
		client: declare(budget.PerMinute(outputQuota).Of(budget.OutputTokens).WithBurst(outputBurst)), preset: llm.Preset,
		calls: 4000, body: chat, bound: outputTime, want: want{per1000: 5, together: thrifty(0.97), note: tellOutput(budget.OutputTokens), workers: []int{outputPlenty}}},
	{name: "output tokens, declared and told", server: ai(throttletest.ChargeUsed, limits(throttletest.TokenBucket(outputQuota, window, outputBurst).Of(budget.OutputTokens)), told(throttletest.Announce{Dialect: headers.Anthropic})),
		client: declare(budget.PerMinute(outputQuota).Of(budget.OutputTokens).WithBurst(outputBurst)), preset: llm.Preset,
		calls: 4000, body: chat, bound: outputTime, want: want{per1000: 5, together: thrifty(0.97), note: tellOutput(budget.OutputTokens), workers: []int{outputPlenty}}},
	{name: "output tokens, a plain minute", server: ai(throttletest.ChargeUsed, limits(throttletest.TokenBucket(outputQuota, window, outputQuota).Of(budget.OutputTokens)), told(throttletest.Announce{Dialect: headers.Anthropic})),
		client: declare(budget.PerMinute(outputQuota).Of(budget.OutputTokens)), preset: llm.Preset,
		calls: 3000, body: chat, bound: outputTime, want: want{per1000: 5, together: thrifty(0.97 * 10 / 9), note: tellOutput(budget.OutputTokens), workers: []int{outputPlenty}}}, // the minute that the bucket holds comes on top of nine that flow in
	{name: "output tokens, only told", server: ai(throttletest.ChargeUsed, limits(throttletest.TokenBucket(outputQuota, window, outputBurst).Of(budget.OutputTokens)), told(throttletest.Announce{Dialect: headers.Anthropic})),
		preset: llm.Preset,
		calls:  4000, body: chat, bound: outputTime, want: want{per1000: 5, together: thrifty(0.97), note: tellOutput(budget.OutputTokens), workers: []int{outputPlenty}}},
	{name: "output tokens, told to a crowd", server: ai(throttletest.ChargeUsed, limits(throttletest.TokenBucket(outputQuota, window, outputBurst).Of(budget.OutputTokens)), told(throttletest.Announce{Dialect: headers.Anthropic})),
		preset: llm.Preset,
		calls:  4000, body: chat, bound: outputTime, want: want{per1000: 5, note: tellOutput(budget.OutputTokens), workers: []int{256},
			short: "use of 0.97 and a debt of one second: no answer comes in two seconds, nobody is waited for longer, and all 256 leave who use twice what the bucket holds and gets back"}},
	{name: "most charged, told", server: ai(throttletest.ChargeMax, chargedMost, told(throttletest.Announce{Dialect: headers.OpenAI})),
		client: declare(budget.PerMinute(mostQuota).Of(budget.Tokens).WithBurst(mostQuota / 6)), preset: llm.Preset,
		calls: 1000, body: chat, bound: mostTime, want: want{ratio: 1.5, per1000: 1, workers: []int{outputPlenty}}}, // the first answers take long to come, and nobody is sure before
	{name: "most held, then settled", server: ai(throttletest.ChargeSettled, chargedMost),
		client: declare(budget.PerMinute(mostQuota).Of(budget.Tokens).WithBurst(mostQuota / 6)), preset: holdMost,
		calls: 1000, body: chat, bound: mostTime, want: want{ratio: 2.5, per1000: 1, note: tellReserved(budget.Tokens), workers: []int{outputPlenty}}},
}

func TestTokensThatAreCountedWhenTheAnswerEnds(t *testing.T) {
	t.Log(heading)
	for _, s := range tokenScenarios {
		s.want.jitters = []time.Duration{usualJitter} // which is nothing beside ten seconds
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			judge(t, s)
		})
	}
}
