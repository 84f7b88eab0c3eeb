package llm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func recorded(t *testing.T, parts ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, parts...)...))
	require.NoError(t, err)
	return b
}

func TestInspectRecordedRequests(t *testing.T) {
	for file, want := range map[string]Prompt{
		"openai_chat.json":        {Model: "gpt-4o-mini", MaxOutput: 60, Answers: 2, Chars: len("system") + len("Be brief.") + len("user") + len("Was kostet \"das\"?\n") + len("function") + len("f")},
		"anthropic_messages.json": {Model: "claude-sonnet-4-5", MaxOutput: 1024, Images: 1, Chars: len("user") + len("base64") + len("image/png") + len("text") + len("Describe.")},
		"gemini_generate.json":    {MaxOutput: 800, Answers: 1, Chars: len("user") + len("Explain.")},
		"mistral_chat.json":       {Model: "mistral-small-latest", MaxOutput: 16, Chars: len("user") + len("Bonjour")},
	} {
		t.Run(file, func(t *testing.T) { assert.Equal(t, want, Inspect(recorded(t, "requests", file))) })
	}
}

func TestInlineDataCountsAsOneThingAndNoText(t *testing.T) {
	blob := strings.Repeat("iVBORw0KGgo9+/AA", 10_000)
	for name, c := range map[string]struct {
		body   string
		images int
	}{
		"data URL":          {`{"messages":[{"content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + blob + `"}}]}]}`, 1},
		"image by address":  {`{"messages":[{"content":[{"type":"image_url","image_url":{"url":"https://a.example/b.png"}}]}]}`, 1},
		"two, one of each":  {`{"messages":[{"content":[{"type":"image_url","image_url":"data:,"},{"type":"input_image","image_url":"https://a.example"}]}]}`, 2},
		"Gemini inline":     {`{"contents":[{"parts":[{"inline_data":{"mime_type":"image/png","data":"` + blob + `"}}]}]}`, 1},
		"base64 with \\/":   {`{"contents":[{"parts":[{"inline_data":{"data":"` + strings.ReplaceAll(blob, "/", `\/`) + `"}}]}]}`, 1},
		"sound":             {`{"messages":[{"content":[{"type":"input_audio","input_audio":{"data":"` + blob + `","format":"wav"}}]}]}`, 1},
		"a long plain word": {`{"messages":[{"content":"` + strings.Repeat("x", 5000) + `"}]}`, 0},
		"prose":             {`{"messages":[{"content":"` + strings.Repeat("The 3 quick foxes. ", 300) + `"}]}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := Inspect([]byte(c.body))
			assert.Equal(t, c.images, p.Images)
			if c.images > 0 {
				assert.Less(t, p.Chars, 60)
			} else {
				assert.GreaterOrEqual(t, p.Chars, 5000)
			}
		})
	}
}

func TestInspectCountsBytesOfText(t *testing.T) {
	for text, want := range map[string]int{
		`plain`: 5, `a\nb`: 3, `\"`: 1, `\\`: 1, `\u00e9`: 3, `é`: 2, `東京`: 6, `😀`: 4, `\\n`: 2, ``: 0,
	} {
		assert.Equal(t, want, Inspect([]byte(`{"content":"`+text+`"}`)).Chars, text)
	}
}

func TestInspectReadsOnlyTheFieldsThatCount(t *testing.T) {
	for body, want := range map[string]Prompt{
		`{"a":{"model":"deep","max_tokens":5,"n":5},"model":"m"}`:             {Model: "m", Chars: 4},
		`{"max_tokens":10,"max_completion_tokens":20}`:                        {MaxOutput: 20},
		`{"max_tokens":null,"n":null}`:                                        {},
		`{"max_tokens":1e9}`:                                                  {},
		`{"max_tokens":-5,"n":2.5}`:                                           {MaxOutput: 5},
		`{"generationConfig":{"maxOutputTokens":7,"candidateCount":2}}`:       {MaxOutput: 7, Answers: 2},
		`{"generation_config":{"max_tokens":7},"x":[{"maxOutputTokens":70}]}`: {},
		`{"model":"a\u002fb"}`:                                                {Model: "a/b"},
		`{"model":17}`:                                                        {},
		`[{"model":"list"}]`:                                                  {Chars: 4},
	} {
		assert.Equal(t, want, Inspect([]byte(body)), body)
	}
}

// Whatever arrives, the scanner ends and counts no more than there is.
func FuzzInspect(f *testing.F) {
	for _, seed := range []string{`{"model":"m","n":1}`, `{"a`, `"\`, `{{{{`, `]]]]`, `{"x":"\u12`, `{"n":9999999999999999999}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p := Inspect(body)
		assert.LessOrEqual(t, p.Chars, len(body))
		assert.GreaterOrEqual(t, p.Chars, 0)
		assert.GreaterOrEqual(t, p.MaxOutput, 0)
	})
}

func BenchmarkInspect(b *testing.B) {
	body := recordedBench(b, "openai_chat.json")
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		Inspect(body)
	}
}

func recordedBench(b *testing.B, file string) []byte {
	body, err := os.ReadFile(filepath.Join("testdata", "requests", file))
	require.NoError(b, err)
	return body
}
