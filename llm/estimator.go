package llm

import (
	"net/http"
	"slices"
	"sync"

	"github.com/seed-18ca0a92/throttle/budget"
)

const (
	// priorRatio is the usual figure for English text, in bytes a token; other languages and code are learned.
	priorRatio = 4.0
	// priorWeight is how many tokens of experience the prior stands for: after some ten short prompts their own ratio prevails.
	priorWeight = 500.0
	// memory is how many tokens of experience are kept: more would make a change of the job's texts unseen.
	memory = 10_000.0
	// imageTokens is what an image costs, between OpenAI's 765 for one of 1024 x 1024 and Anthropic's 1,600 for the largest.
	imageTokens = 1000
	// overhead is what the framing of a chat costs, in tokens.
	overhead = 4
	// priorOutput is the answer that a call without a limit is taken to get before any was seen, in tokens.
	priorOutput = 512
	// samples is how many answers a model's output quantile is taken from, and enough of them to trust it.
	samples, enough = 128, 8
	// quantile is the share of answers that the estimate covers. Reserving the 92nd percentile and giving back what was too much uses
	// 99 % of a token budget; reserving the limit of each call uses 17 %.
	quantile = 0.92
	// maxModels bounds what is kept; models beyond it share one record.
	maxModels = 1000
)

// Estimator guesses what a call will cost and learns from what calls did cost, for each model by itself. Safe for concurrent use.
//
// Of the answer it reserves what most answers of the model stay below, and what was reserved too much is given back when the answer has come.
// Services that speak OpenAI's rate-limit headers charge the most that a call allows instead, whatever it uses: there the whole of it is
// reserved and nothing is given back. OverReservation tells how much that costs; a lower max_tokens in the calls is the remedy.
type Estimator struct {
	mu      sync.Mutex
	models  map[string]*record
	holding bool
}

// record is what is known of a model: the decayed sums of bytes and tokens seen, and its last answers' lengths.
type record struct {
	chars, tokens float64
	outputs       [samples]int
	seen          int
	likely        int // the quantile of outputs; kept since it is read more often than it changes
	holds         bool
	reserved      float64 // tokens of answers that were estimated, and those that they had
	used          float64
}

// NewEstimator knows nothing yet but the usual figures.
func NewEstimator() *Estimator { return &Estimator{models: map[string]*record{}} }

// HoldMost makes e reserve the most that a call allows from the first call on, for services that hold that until the answer has come and give
// back the rest (Bedrock). It returns e.
func (e *Estimator) HoldMost() *Estimator {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.holding = true
	return e
}

// OverReservation is how many tokens of answers were reserved for each that the answers of a model had; 0 = none has come. Around 2 is what
// answers of very different lengths need. Where the service charges the most that calls allow, 10 means that a tenth of the quota is of use.
func (e *Estimator) OverReservation(model string) float64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.models[model]
	if r == nil || r.used == 0 {
		return 0
	}
	return r.reserved / r.used
}

// record finds or makes the record of a model. e.mu must be held.
func (e *Estimator) record(model string) *record {
	if r := e.models[model]; r != nil {
		return r
	}
	if len(e.models) >= maxModels {
		model = ""
	}
	if r := e.models[model]; r != nil {
		return r
	}
	r := &record{chars: priorWeight * priorRatio, tokens: priorWeight}
	e.models[model] = r
	return r
}

// Estimate is the likely cost of a call: its prompt in full, and of its answer the length that most stay below.
func (e *Estimator) Estimate(p Prompt) Tokens {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.record(p.Model)
	t := Tokens{Input: r.input(p), Output: r.output(p, e.holding)}
	t.Total = t.Input + t.Output
	return t
}

func (r *record) input(p Prompt) int {
	return int(float64(p.Chars)*r.tokens/r.chars) + p.Images*imageTokens + overhead
}

func (r *record) output(p Prompt, holding bool) int {
	n := max(p.Answers, 1)
	if r.seen >= enough && !(p.MaxOutput > 0 && (holding || r.holds)) {
		if p.MaxOutput > 0 {
			return min(r.likely, p.MaxOutput*n)
		}
		return r.likely
	}
	if p.MaxOutput > 0 {
		return p.MaxOutput * n
	}
	return priorOutput * n
}

// Observe learns from an answer to p.
func (e *Estimator) Observe(p Prompt, t Tokens) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.record(p.Model)
	if p.Images == 0 && p.Chars > 0 && t.Input > overhead {
		r.learnRatio(float64(p.Chars), float64(t.Input-overhead))
	}
	r.reserved += float64(r.output(p, e.holding))
	r.used += float64(t.Output)
	r.learnOutput(t.Output)
}

func (r *record) learnRatio(chars, tokens float64) {
	r.chars += chars
	r.tokens += tokens
	if r.tokens > memory {
		r.chars /= 2
		r.tokens /= 2
	}
}

func (r *record) learnOutput(n int) {
	r.outputs[r.seen%samples] = n
	r.seen++
	if r.seen > samples && r.seen%enough != 0 {
		return // sorting at every eighth answer is often enough
	}
	sorted := slices.Clone(r.outputs[:min(r.seen, samples)])
	slices.Sort(sorted)
	r.likely = sorted[int(quantile*float64(len(sorted)-1)+0.5)]
}

// Cost estimates what req will cost, for throttle.WithCost.
func (e *Estimator) Cost(req *http.Request) budget.Cost { return e.Estimate(promptOf(req)).Cost() }

// Usage is what the answer says it cost, for throttle.WithUsage, and teaches the estimator. It is nil, so that nothing is given back, where the
// service has charged the most that the call allows.
func (e *Estimator) Usage(resp *http.Response, tail []byte) budget.Cost {
	t, ok := ParseUsage(tail)
	if !ok {
		return nil
	}
	p := promptOf(resp.Request)
	e.Observe(p, t)
	if p.MaxOutput > 0 && chargesMost(resp.Header) {
		e.hold(p.Model)
		return nil
	}
	return t.Cost()
}

// chargesMost recognises services that charge the most that a call allows by their headers: OpenAI, Azure, and those who copy them. If one
// charges less all the same, its Remaining tells, and the transport follows that.
func chargesMost(h http.Header) bool {
	return h.Get("X-Ratelimit-Limit-Tokens") != "" || h.Get("X-Ratelimit-Remaining-Tokens") != ""
}

// hold reserves the most that calls of a model allow from now on.
func (e *Estimator) hold(model string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.record(model).holds = true
}

// Cost estimates what req will cost from its text alone, in tokens, input_tokens and output_tokens. Preset has one that learns.
func Cost(req *http.Request) budget.Cost { return NewEstimator().Cost(req) }

// Usage is what the end of an answer says it cost; nil if it says nothing.
func Usage(_ *http.Response, tail []byte) budget.Cost {
	t, _ := ParseUsage(tail)
	return t.Cost()
}
