package throttletest

import (
	"math"

	"github.com/seed-18ca0a92/throttle/budget"
)

// Charge is which tokens of an AI call a server charges, and when. The input is estimated at four characters to a token; the most
// that the output may have is max_completion_tokens or max_tokens, or the mean of WithOutputTokens if the call names none.
type Charge uint8

// The ways to charge.
const (
	ChargeMax     Charge = iota // input and the most output, on arrival, for good (OpenAI)
	ChargeSettled               // the same, but what was not used is given back when the call ends (Bedrock)
	ChargeUsed                  // input on arrival and output when the call ends, into debt if need be (Anthropic)
)

// price fills in what the call is charged, and the length of its answer.
func (c *config) price(k *call) {
	if k.ask.limit() > 0 {
		k.output = min(k.output, k.ask.limit())
	}
	k.output = max(1, math.Floor(k.output))
	if c.cost != nil {
		k.charged = c.cost(k.request, k.body)
		return
	}
	most := k.ask.limit()
	if most == 0 {
		most = math.Ceil(c.output.mean)
	}
	if c.charge == ChargeUsed {
		most = 0
	}
	k.charged = costOf(k.ask.input, most)
	if c.charge != ChargeMax {
		k.used = costOf(k.ask.input, k.output)
	}
}

func costOf(input, output float64) budget.Cost {
	return budget.Cost{
		budget.Requests: 1, budget.Tokens: input + output,
		budget.InputTokens: input, budget.OutputTokens: output,
	}
}
