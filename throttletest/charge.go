package throttletest

import (
	"math"

	"github.com/seed-18ca0a92/throttle/budget"
)

// Charge is which tokens of an AI call a server charges, and when. An AI call is one whose body is a JSON object; any other costs
// one request and no tokens. The input is estimated at four characters to a token; the most that the output may have is
// max_completion_tokens or max_tokens, or the mean of WithOutputTokens if the call names none.
type Charge uint8

// The ways to charge.
const (
	ChargeMax     Charge = iota // input and the most output, on arrival, for good (OpenAI)
	ChargeSettled               // the same, but what was not used is given back when the call ends (Bedrock)
	ChargeUsed                  // input on arrival, and output when the call ends, into debt if need be (Anthropic)
)

// price is what a call must find free to be admitted, what it is charged then, and what it will have used in the end.
type price struct {
	needs, charged budget.Cost
	used           budget.Cost // nil = as charged
}

// priceOf is the price of a call that asks for this and is answered with output tokens.
func (c *config) priceOf(a *ask, output float64) price {
	input, most := a.input, a.limit()
	if most == 0 {
		most = math.Ceil(c.output.mean)
	}
	p := price{used: costOf(input, output)}
	switch c.charge {
	case ChargeUsed:
		p.needs, p.charged = costOf(input, 1), costOf(input, 0) // one token is the least that it can use
	case ChargeSettled:
		p.charged = costOf(input, most)
		p.needs = p.charged
	default:
		p = price{needs: costOf(input, most), charged: costOf(input, most)}
	}
	return p
}

func costOf(input, output float64) budget.Cost {
	return budget.Cost{
		budget.Requests: 1, budget.Tokens: input + output,
		budget.InputTokens: input, budget.OutputTokens: output,
	}
}

// appraise fills in the price of a call, and the length of its answer.
func (c *config) appraise(k *call) {
	if !k.isAI {
		k.output = 0
	} else {
		k.output = c.length(k)
		k.price = c.priceOf(&k.ask, k.output)
	}
	if c.cost != nil {
		cost := c.cost(k.request, k.body)
		k.price = price{needs: cost, charged: cost}
	}
}

// length is how many tokens the answer has: what it would like, as far as the call allows.
func (c *config) length(k *call) float64 {
	if most := k.ask.limit(); most > 0 {
		k.output = min(k.output, most)
	}
	return max(1, math.Floor(k.output))
}
