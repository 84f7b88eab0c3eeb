package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/seed-18ca0a92/throttle/budget"
)

// Tokens is what one answer cost. The zero value is an answer that said nothing.
type Tokens struct {
	Input  int // of the prompt, those read from a cache left out where the service does not count them against the limit (Anthropic)
	Output int // of the answer, reasoning included
	Total  int // as the service says, or the sum of both
}

// Cost is t in the units that policies can limit, without those of which nothing is known: of a long event stream only the end may have been
// seen, which tells the answer and not the prompt. Nil if nothing is known.
func (t Tokens) Cost() budget.Cost {
	switch {
	case t.Total == 0:
		return nil
	case t.Input == 0:
		return budget.Cost{budget.OutputTokens: float64(t.Output)}
	}
	return budget.Cost{budget.Tokens: float64(t.Total), budget.InputTokens: float64(t.Input), budget.OutputTokens: float64(t.Output)}
}

// ParseUsage finds the usage in the last part of an answer: JSON or an event stream, whole or cut at the front. Streams report several times and
// count up, so the largest figures are the last word.
func ParseUsage(tail []byte) (t Tokens, ok bool) {
	for _, name := range []string{`"usage"`, `"usageMetadata"`} {
		for rest := tail; ; {
			obj, after := nextObject(rest, name)
			if after == nil {
				break
			}
			rest = after
			if u, fine := readUsage(obj); fine {
				t, ok = t.merge(u), true
			}
		}
	}
	return t, ok
}

func (t Tokens) merge(u Tokens) Tokens {
	t.Input, t.Output = max(t.Input, u.Input), max(t.Output, u.Output)
	t.Total = max(t.Total, u.Total, t.Input+t.Output)
	return t
}

// nextObject is the text from the brace of the next object that has this name, and what follows the name; nil if there is none. A name inside
// a string has a backslash before its quote.
func nextObject(b []byte, name string) (obj, after []byte) {
	for {
		i := bytes.Index(b, []byte(name))
		if i < 0 {
			return nil, nil
		}
		escaped := i > 0 && b[i-1] == '\\'
		b = b[i+len(name):]
		value := bytes.TrimLeft(b, " \t\r\n")
		if escaped || len(value) == 0 || value[0] != ':' {
			continue
		}
		if value = bytes.TrimLeft(value[1:], " \t\r\n"); len(value) > 0 && value[0] == '{' {
			return value, b
		}
	}
}

// usage is the union of what services call the same things.
type usage struct {
	PromptTokens     count `json:"prompt_tokens"`     // OpenAI chat, Azure, Mistral
	CompletionTokens count `json:"completion_tokens"` //
	TotalTokens      count `json:"total_tokens"`

	InputTokens  count `json:"input_tokens"` // OpenAI responses, Anthropic
	OutputTokens count `json:"output_tokens"`
	CacheWrites  count `json:"cache_creation_input_tokens"` // Anthropic: counted against the limit; reads from the cache are not

	PromptTokenCount     count `json:"promptTokenCount"` // Gemini
	CandidatesTokenCount count `json:"candidatesTokenCount"`
	ThoughtsTokenCount   count `json:"thoughtsTokenCount"`
	TotalTokenCount      count `json:"totalTokenCount"`
}

// count is a number of tokens. Some services write 100.0 for it.
type count int

// maxCount is more than any answer has, and less than what would overflow.
const maxCount = 1 << 31

// UnmarshalJSON reads any number that can be one of tokens.
func (c *count) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	n, err := strconv.ParseFloat(string(text), 64)
	if err != nil || n < 0 || n > maxCount {
		return fmt.Errorf("%.20q is no number of tokens", text)
	}
	*c = count(n)
	return nil
}

// readUsage reads the object at the start of b; whatever follows it does not matter.
func readUsage(b []byte) (Tokens, bool) {
	var u usage
	if json.NewDecoder(bytes.NewReader(b)).Decode(&u) != nil {
		return Tokens{}, false
	}
	t := Tokens{
		Input:  int(u.PromptTokens + u.InputTokens + u.CacheWrites + u.PromptTokenCount),
		Output: int(u.CompletionTokens + u.OutputTokens + u.CandidatesTokenCount + u.ThoughtsTokenCount),
	}
	t.Total = max(int(u.TotalTokens), int(u.TotalTokenCount), t.Input+t.Output)
	return t, t.Total > 0
}
