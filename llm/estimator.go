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
type Estimator struct {
	mu     sync.Mutex
	models map[string]*record
}

// record is what is known of a model: the decayed sums of bytes and tokens seen, and its last answers' lengths.
type record struct {
	chars, tokens float64
	outputs       [samples]int
	seen          int
	likely        int // the quantile of outputs; kept since it is read more often than it changes
}

// NewEstimator knows nothing yet but the usual figures.
func NewEstimator() *Estimator { return &Estimator{models: map[string]*record{}} }

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
	t := Tokens{Input: r.input(p), Output: r.output(p)}
	t.Total = t.Input + t.Output
	return t
}

func (r *record) input(p Prompt) int {
	return int(float64(p.Chars)*r.tokens/r.chars) + p.Images*imageTokens + overhead
}

func (r *record) output(p Prompt) int {
	n := max(p.Answers, 1)
	if r.seen >= enough {
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

// Usage is what the answer says it cost, for throttle.WithUsage, and teaches the estimator.
func (e *Estimator) Usage(resp *http.Response, tail []byte) budget.Cost {
	t, ok := ParseUsage(tail)
	if !ok {
		return nil
	}
	e.Observe(promptOf(resp.Request), t)
	return t.Cost()
}

// Cost estimates what req will cost from its text alone, in tokens, input_tokens and output_tokens. Preset has one that learns.
func Cost(req *http.Request) budget.Cost { return NewEstimator().Cost(req) }

// Usage is what the end of an answer says it cost; nil if it says nothing.
func Usage(_ *http.Response, tail []byte) budget.Cost {
	t, _ := ParseUsage(tail)
	return t.Cost()
}
