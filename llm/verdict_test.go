package llm

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed-18ca0a92/throttle"
)

func TestVerdictsOnRecordedErrors(t *testing.T) {
	for _, c := range []struct {
		file   string
		status int
		want   throttle.Verdict
	}{
		{"openai_429_quota.json", 429, throttle.Hopeless},
		{"openai_429_rate.json", 429, throttle.ByDefault},
		{"openai_503_overloaded.json", 503, throttle.Refused},
		{"openai_400_request.json", 400, throttle.ByDefault},
		{"openai_500.json", 500, throttle.ByDefault},
		{"azure_429_rate.json", 429, throttle.ByDefault},
		{"azure_429_quota.json", 429, throttle.Hopeless},
		{"anthropic_529.json", 529, throttle.Refused},
		{"anthropic_529.json", 500, throttle.Refused},
		{"anthropic_429.json", 429, throttle.ByDefault},
		{"anthropic_400_credit.json", 400, throttle.Hopeless},
		{"anthropic_403_billing.json", 403, throttle.Hopeless},
		{"gemini_429_minute.json", 429, throttle.ByDefault},
		{"gemini_429_day.json", 429, throttle.Hopeless},
		{"gemini_openai_face_429_day.json", 429, throttle.Hopeless},
		{"gemini_503.json", 503, throttle.Refused},
		{"mistral_429_capacity.json", 429, throttle.Refused},
		{"mistral_429_rate.json", 429, throttle.ByDefault},
		{"proxy_503.txt", 503, throttle.ByDefault},
	} {
		t.Run(c.file, func(t *testing.T) {
			body := recorded(t, "errors", c.file)
			got := Verdict(&http.Response{StatusCode: c.status}, func() []byte { return body })
			assert.Equal(t, c.want, got)
		})
	}
}

func TestAnswersAreNotLookedInto(t *testing.T) {
	got := Verdict(&http.Response{StatusCode: 200}, func() []byte { t.Error("the body of an answer was read"); return nil })
	assert.Equal(t, throttle.ByDefault, got)
	assert.Equal(t, throttle.ByDefault, Verdict(&http.Response{StatusCode: 429}, nil), "event streams cannot be peeked into")
}

// A prompt that an error echoes must not decide.
func TestWordsInsideAMessageDecideNothing(t *testing.T) {
	body := strings.Replace(string(recorded(t, "errors", "openai_400_request.json")), "foo", "insufficient_quota overloaded_error", 1)
	assert.Equal(t, throttle.ByDefault, Verdict(&http.Response{StatusCode: 400}, func() []byte { return []byte(body) }))
}

func FuzzVerdict(f *testing.F) {
	f.Add(429, []byte(`{"error":{"code":"insufficient_quota"}}`))
	f.Add(503, []byte(`[null]`))
	f.Add(500, []byte(`{"error":5,"details":[{}]}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		got := Verdict(&http.Response{StatusCode: status}, func() []byte { return body })
		assert.True(t, status >= 400 || got == throttle.ByDefault)
	})
}
