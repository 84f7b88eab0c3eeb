package throttletest

import (
	"encoding/json"
	"math"
	"unicode/utf8"
)

// ask is what the body of an AI call asks for. Its zero value is any other call.
type ask struct {
	Model               string          `json:"model"`
	Stream              bool            `json:"stream"`
	MaxTokens           float64         `json:"max_tokens"`
	MaxCompletionTokens float64         `json:"max_completion_tokens"`
	Messages            json.RawMessage `json:"messages"`
	Prompt              json.RawMessage `json:"prompt"`
	Input               json.RawMessage `json:"input"`

	input float64 // estimate of the tokens in it
	last  string  // the last text in it
}

// charsPerToken is the usual rule of thumb for English text.
const charsPerToken = 4

// parseAsk reads a body; ok is false if it is not a JSON object with these fields.
func parseAsk(body []byte) (a ask, ok bool) {
	if len(body) == 0 || json.Unmarshal(body, &a) != nil {
		return ask{}, false
	}
	chars := 0
	for _, raw := range []json.RawMessage{a.Prompt, a.Input, a.Messages} {
		var v any
		if len(raw) > 0 && json.Unmarshal(raw, &v) == nil {
			a.scan(v, &chars)
		}
	}
	a.input = math.Ceil(float64(chars) / charsPerToken)
	return a, true
}

// scan adds up the text in v. Of a message or a part of one, only content and text count.
func (a *ask) scan(v any, chars *int) {
	switch v := v.(type) {
	case string:
		*chars += utf8.RuneCountInString(v)
		a.last = v
	case []any:
		for _, item := range v {
			a.scan(item, chars)
		}
	case map[string]any:
		a.scan(v["content"], chars)
		a.scan(v["text"], chars)
	}
}

// limit is the most tokens that the answer may have, zero if the call does not say.
func (a *ask) limit() float64 {
	if a.MaxCompletionTokens > 0 {
		return a.MaxCompletionTokens
	}
	return max(0, a.MaxTokens)
}
