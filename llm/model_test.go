package llm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// slowInspect reads a body as plainly as can be: by building all of it.
func slowInspect(t *rapid.T, body []byte) Prompt {
	var root map[string]any
	if err := json.Unmarshal(body, &root); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	var p Prompt
	p.Model, _ = root["model"].(string)
	number := func(from map[string]any, name string, into *int) {
		if n, ok := from[name].(float64); ok && n >= 0 {
			*into = max(*into, int(n))
		}
	}
	for _, name := range []string{"max_tokens", "max_completion_tokens", "max_output_tokens"} {
		number(root, name, &p.MaxOutput)
	}
	number(root, "n", &p.Answers)
	for _, v := range root {
		if inner, ok := v.(map[string]any); ok {
			number(inner, "maxOutputTokens", &p.MaxOutput)
			number(inner, "candidateCount", &p.Answers)
		}
	}
	named, blobs := 0, 0
	walk("", root, func(key, text string) {
		switch {
		case key == "type" && isMedia([]byte(text)):
			named++
		case isBlob([]byte(text)):
			blobs++
		default:
			p.Chars += len(text)
		}
	})
	p.Chars -= len(p.Model)
	p.Images = max(named, blobs)
	return p
}

// walk calls f for every string, with the name it has.
func walk(key string, v any, f func(key, text string)) {
	switch v := v.(type) {
	case string:
		f(key, v)
	case []any:
		for _, item := range v {
			walk(key, item, f)
		}
	case map[string]any:
		for name, item := range v {
			walk(name, item, f)
		}
	}
}

// part is a message part of some kind.
func part(t *rapid.T) any {
	return rapid.OneOf(
		rapid.Custom(func(t *rapid.T) any {
			return map[string]any{"type": "text", "text": rapid.StringMatching(`[a-zA-Zé東 ]{0,80}`).Draw(t, "text")}
		}),
		rapid.Just[any](map[string]any{"type": "image_url", "image_url": map[string]any{"url": "https://a.example/b.png"}}),
		rapid.Just[any](map[string]any{"type": "image_url", "image_url": map[string]any{"url": "data:image/png;base64,AAAA"}}),
		rapid.Just[any](map[string]any{"inline_data": map[string]any{"data": strings.Repeat("aB3+", 100)}}),
		rapid.Just[any](map[string]any{"type": "tool_use", "input": map[string]any{"n": 5, "max_tokens": 99, "model": "not this one"}}),
	).Draw(t, "part")
}

// The scanner and the plain reading agree on every body.
func TestInspectAgainstAPlainReading(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts []any
		for range rapid.IntRange(0, 5).Draw(t, "parts") {
			parts = append(parts, part(t))
		}
		body := map[string]any{"messages": []any{map[string]any{"role": "user", "content": parts}}}
		optional := map[string]any{
			"model": rapid.StringMatching(`[a-z0-9./-]{1,20}`).Draw(t, "model"), "max_tokens": rapid.IntRange(0, 9999).Draw(t, "max"),
			"max_completion_tokens": rapid.IntRange(0, 9999).Draw(t, "max"), "n": rapid.IntRange(0, 9).Draw(t, "n"), "temperature": 0.5, "stream": false,
			"generationConfig": map[string]any{"maxOutputTokens": rapid.IntRange(0, 9999).Draw(t, "max"), "candidateCount": 3},
		}
		for name, value := range optional {
			if rapid.Bool().Draw(t, name) {
				body[name] = value
			}
		}
		text, err := json.Marshal(body)
		require.NoError(t, err)
		if rapid.Bool().Draw(t, "indented") {
			text, err = json.MarshalIndent(body, "", "\t")
			require.NoError(t, err)
		}
		assert.Equal(t, slowInspect(t, text), Inspect(text), "%s", text)
	})
}

// The estimate of the answer is the quantile of the last answers, never above the call's own limit, and never forgets how many are asked for.
func TestTheOutputEstimateAgainstSorting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := NewEstimator()
		outputs := rapid.SliceOfN(rapid.IntRange(1, 5000), enough, 3*samples).Draw(t, "outputs")
		for _, n := range outputs {
			e.Observe(Prompt{Model: "m"}, Tokens{Input: 10, Output: n})
		}
		got := e.Estimate(Prompt{Model: "m"}).Output
		// At most seven answers came since the quantile was last taken.
		plausible := false
		for late := range enough {
			if late >= len(outputs) {
				break
			}
			seen := outputs[:len(outputs)-late]
			last := slices.Sorted(slices.Values(seen[max(0, len(seen)-samples):]))
			plausible = plausible || got == last[int(quantile*float64(len(last)-1)+0.5)]
		}
		assert.True(t, plausible, "%d of %v", got, outputs)
		limit := rapid.IntRange(1, 5000).Draw(t, "limit")
		assert.LessOrEqual(t, e.Estimate(Prompt{Model: "m", MaxOutput: limit}).Output, limit)
	})
}

// The estimate of a prompt stays between the ratios that were seen.
func TestTheInputEstimateStaysWithinWhatWasSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := NewEstimator()
		low, high := priorRatio, priorRatio
		for range rapid.IntRange(0, 200).Draw(t, "answers") {
			chars := rapid.IntRange(100, 5000).Draw(t, "chars")
			tokens := rapid.IntRange(chars/8, chars).Draw(t, "tokens")
			ratio := float64(chars) / float64(tokens)
			low, high = min(low, ratio), max(high, ratio)
			e.Observe(Prompt{Chars: chars}, Tokens{Input: tokens + overhead, Output: 1})
		}
		const chars = 10_000
		got := float64(e.Estimate(Prompt{Chars: chars}).Input - overhead)
		assert.GreaterOrEqual(t, got, chars/high-1)
		assert.LessOrEqual(t, got, chars/low+1)
	})
}

// Usage is found wherever it stands, and text that only speaks of usage is none.
func TestUsageAnywhereInABody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, out := rapid.IntRange(1, 1_000_000).Draw(t, "in"), rapid.IntRange(0, 1_000_000).Draw(t, "out")
		usage := fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"details":{"x":[1,{"y":"}"}]}}`, in, out, in+out)
		text, err := json.Marshal(rapid.SampledFrom([]string{`"usage":{"prompt_tokens":9999999}`, `{}`, `\`, `"usage"`, "usage: {"}).Draw(t, "text"))
		require.NoError(t, err)
		fields := []string{`"content":` + string(text), `"usage":` + usage, `"id":"x"`}
		order := rapid.Permutation(fields).Draw(t, "order")
		got, ok := ParseUsage([]byte("{" + strings.Join(order, ", ") + "}"))
		assert.True(t, ok)
		assert.Equal(t, Tokens{Input: in, Output: out, Total: in + out}, got)
	})
}
