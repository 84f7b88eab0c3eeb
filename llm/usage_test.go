package llm

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed-18ca0a92/throttle/budget"
)

func recordedUsage() map[string]Tokens {
	return map[string]Tokens{
		"answers/openai_chat.json":       {Input: 19, Output: 10, Total: 29},
		"answers/openai_responses.json":  {Input: 36, Output: 87, Total: 123},
		"answers/openai_embeddings.json": {Input: 8, Total: 8},
		"answers/azure_chat.json":        {Input: 33, Output: 55, Total: 88},
		"answers/anthropic_message.json": {Input: 120, Output: 12, Total: 132},
		"answers/gemini_generate.json":   {Input: 8, Output: 1071, Total: 1079},
		"answers/mistral_chat.json":      {Input: 14, Output: 16, Total: 30},
		"streams/openai.txt":             {Input: 9, Output: 12, Total: 21},
		"streams/anthropic.txt":          {Input: 25, Output: 15, Total: 40},
		"streams/gemini.txt":             {Input: 7, Output: 40, Total: 47},
		"streams/mistral.txt":            {Input: 16, Output: 34, Total: 50},
	}
}

func TestUsageOfRecordedAnswers(t *testing.T) {
	for file, want := range recordedUsage() {
		t.Run(file, func(t *testing.T) {
			got, ok := ParseUsage(recorded(t, strings.Split(file, "/")...))
			assert.True(t, ok)
			assert.Equal(t, want, got)
		})
	}
}

// Only the end of a long body is seen; the front may be cut anywhere.
func TestUsageOfACutBody(t *testing.T) {
	whole := recorded(t, "answers", "mistral_chat.json")
	for i := range whole {
		got, ok := ParseUsage(whole[i:])
		if !ok {
			assert.Greater(t, i, 50, "the usage is gone only once its own text is cut")
			continue
		}
		assert.Equal(t, Tokens{Input: 14, Output: 16, Total: 30}, got)
	}
}

func TestAnswersWithoutUsage(t *testing.T) {
	for _, text := range []string{
		``, `{}`, `{"usage":null}`, `{"usage":{}}`, `{"usage":{"prompt_tokens":0}}`, `{"usage":"none"}`, `{"usage":`, `{"usage" 5}`, `{"usage":{"prompt_tokens":`, `"usage"`,
		`{"content":"\"usage\": {\"total_tokens\": 5}"}`, `{"usage":{"prompt_tokens":"many"}}`, `data: [DONE]`,
	} {
		got, ok := ParseUsage([]byte(text))
		assert.False(t, ok, text)
		assert.Nil(t, got.Cost(), text)
		assert.Nil(t, Usage(nil, []byte(text)), text)
	}
}

func TestWhatIsNotKnownIsNotSettled(t *testing.T) {
	assert.Equal(t, budget.Cost{budget.Tokens: 40, budget.InputTokens: 25, budget.OutputTokens: 15}, Usage(nil, recorded(t, "streams", "anthropic.txt")))
	stream := string(recorded(t, "streams", "anthropic.txt"))
	end := stream[strings.Index(stream, "event: message_delta"):]
	assert.Equal(t, budget.Cost{budget.OutputTokens: 15}, Usage(nil, []byte(end)), "the prompt's tokens stood in the part that is gone")
}

func FuzzParseUsage(f *testing.F) {
	f.Add([]byte(`{"usage":{"total_tokens":5}}`))
	f.Add([]byte(`"usage" : { "usageMetadata":{`))
	f.Fuzz(func(t *testing.T, tail []byte) {
		got, ok := ParseUsage(tail)
		assert.Equal(t, ok, got.Total > 0)
	})
}

// Numbers come in every form that JSON has for them; what cannot be a count makes the usage unreadable and not wrong.
func TestNumbersOfTokens(t *testing.T) {
	for text, want := range map[string]Tokens{
		`{"usage":{"total_tokens":100.0}}`:                        {Total: 100},
		`{"usage":{"prompt_tokens":1e2,"completion_tokens":2.0}}`: {Input: 100, Output: 2, Total: 102},
		`{"usage":{"prompt_tokens":null,"completion_tokens":2}}`:  {Output: 2, Total: 2},
		`{"usage":{"prompt_tokens":-5,"completion_tokens":9}}`:    {},
		`{"usage":{"total_tokens":1e300}}`:                        {},
		`{"usage":{"total_tokens":"100"}}`:                        {},
		`{"usage":{"total_tokens":true}}`:                         {},
	} {
		got, ok := ParseUsage([]byte(text))
		assert.Equal(t, want, got, text)
		assert.Equal(t, want.Total > 0, ok, text)
	}
}
