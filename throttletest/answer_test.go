package throttletest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// completion is what these tests read of an answer.
type completion struct {
	ID      string
	Object  string
	Model   string
	Choices []struct {
		Message      struct{ Role, Content string }
		Delta        struct{ Content string }
		FinishReason string `json:"finish_reason"`
	}
	Data  []struct{ Embedding []float64 }
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
	}
	Error struct{ Message, Type, Code string }
}

func parse(t *testing.T, body string) (c completion) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(body), &c))
	return c
}

const hello = `{"model":"m-1","max_tokens":9,"messages":[{"role":"user","content":"first"},{"role":"user","content":"hello"}]`

func TestAChatCompletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		resp, body := post(t, NewUpstream(), chatURL, hello+`}`)
		c := parse(t, body)
		assert.Equal(t, "chatcmpl-1", c.ID)
		assert.Equal(t, "chat.completion", c.Object)
		assert.Equal(t, "m-1", c.Model)
		assert.Equal(t, "You said: hello", c.Choices[0].Message.Content)
		assert.Equal(t, "stop", c.Choices[0].FinishReason)
		assert.Equal(t, 3, c.Usage.Prompt, "ten characters")
		assert.Equal(t, 9, c.Usage.Completion)
		assert.Equal(t, 12, c.Usage.Total)
		assert.Equal(t, int64(len(body)), resp.ContentLength)
		assert.Equal(t, "application/json", resp.Header.Get("Content-Type"))
		assert.Equal(t, "Sat, 01 Jan 2000 00:00:00 GMT", resp.Header.Get("Date"))
	})
}

func TestAStreamEndsWithItsUsage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := NewUpstream(WithLatency(Latency{Service: Constant(time.Second), PerToken: 100 * time.Millisecond}))
		begun := time.Now()
		resp, body := post(t, u, chatURL, hello+`,"stream":true}`)
		assert.Equal(t, 1900*time.Millisecond, time.Since(begun), "the tokens take their time between the events")
		assert.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))
		assert.Equal(t, int64(-1), resp.ContentLength)
		events := strings.Split(strings.TrimSuffix(body, "\n\n"), "\n\n")
		var text strings.Builder
		for _, e := range events[:len(events)-1] {
			c := parse(t, strings.TrimPrefix(e, "data: "))
			assert.Equal(t, "chat.completion.chunk", c.Object)
			if len(c.Choices) > 0 {
				text.WriteString(c.Choices[0].Delta.Content)
			}
		}
		assert.Equal(t, "You said: hello", text.String())
		last := parse(t, strings.TrimPrefix(events[len(events)-2], "data: "))
		assert.Equal(t, 12, last.Usage.Total)
		assert.Empty(t, last.Choices)
		assert.Equal(t, "data: [DONE]", events[len(events)-1])
	})
}

func TestOtherAnswers(t *testing.T) {
	u := NewUpstream()
	_, body := post(t, u, "http://api.example/v1/embeddings", `{"model":"e","input":["abcd","efgh"]}`)
	c := parse(t, body)
	assert.Len(t, c.Data, 1)
	assert.Equal(t, 2, c.Usage.Total)
	_, body = post(t, u, "http://api.example/x", `not JSON`)
	assert.JSONEq(t, `{"ok":true,"n":2,"id":""}`, body)
}

func TestOwnAnswersAreForAdmittedCalls(t *testing.T) {
	u := NewUpstream(WithLimits(FixedWindow(2, time.Hour)), WithAnswer(func(r *http.Request, body []byte) []byte {
		if r.URL.Path == "/own" {
			return append([]byte("got "), body...)
		}
		return nil
	}))
	_, body := post(t, u, "http://api.example/own", "x")
	assert.Equal(t, "got x", body)
	_, body = post(t, u, "http://api.example/other", "x")
	assert.Contains(t, body, `"ok":true`)
	_, body = post(t, u, "http://api.example/own", "x")
	assert.Contains(t, body, "rate_limit_exceeded")
}

func TestErrorsSayWhatIsShort(t *testing.T) {
	p := newPlay(t, WithLimits(FixedWindow(10, time.Minute).Of("tokens")), WithRefusalStatus(529))
	v := p.at(0, request(`{"max_tokens":10}`))
	v = p.at(500*time.Millisecond, request(`{"max_tokens":10}`))
	assert.Equal(t, 529, v.status)
	e := parse(t, string(errorBody(&v, true))).Error
	assert.Equal(t, "tokens", e.Type)
	assert.Equal(t, "Rate limit reached for tokens. Please try again in 59.5s.", e.Message)
	assert.Equal(t, "Rate limit reached for tokens.", parse(t, string(errorBody(&v, false))).Error.Message)
	for reason, code := range map[Reason]string{Banned: "rate_limit_exceeded", InOutage: "overloaded", Faulted: "error"} {
		assert.Equal(t, code, parse(t, string(errorBody(&verdict{reason: reason, status: 500}, true))).Error.Code)
	}
}

func TestABlindServerIsBlindInItsBodyToo(t *testing.T) {
	for hint, says := range map[Hint]bool{HintSeconds: true, HintDate: true, HintMillis: true, NoHint: false} {
		u := NewUpstream(WithLimits(SlidingLog(1, 24*time.Hour)), WithHint(hint, Usual))
		post(t, u, chatURL, "{}")
		_, body := post(t, u, chatURL, "{}")
		assert.Equal(t, says, strings.Contains(body, "try again in"), hint)
	}
}

func TestTheIdOfACallIsEchoed(t *testing.T) {
	u := NewUpstream()
	r := request("{}", IDHeader, "call-7")
	resp, err := u.RoundTrip(r)
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, "call-7", resp.Header.Get(IDHeader))
	assert.Equal(t, "req_1", resp.Header.Get("X-Request-Id"))
}

func TestAnswersWithoutABody(t *testing.T) {
	u := NewUpstream(WithFaults(Statuses(204, 304)))
	for i, method := range []string{http.MethodGet, http.MethodGet, http.MethodHead} {
		r := httptest.NewRequest(method, "http://api.example/", nil)
		resp, err := u.RoundTrip(r)
		require.NoError(t, err)
		assert.Equal(t, http.NoBody, resp.Body)
		assert.Zero(t, u.Stats().Open)
		assert.Equal(t, i == 2, resp.ContentLength > 0, "a HEAD says how long the body would be")
		assert.Equal(t, i == 2, resp.Header.Get("Content-Length") != "")
	}
}

func TestFaultsSetHeaderAndBody(t *testing.T) {
	u := faulty(Fault{
		Status: 429, Body: []byte("no"),
		Header: http.Header{"Retry-After": {"1000000"}, "x-lower": {"a", "b"}, "Content-Type": nil},
	})
	resp, body := post(t, u, chatURL, "{}")
	assert.Equal(t, "429 Too Many Requests", resp.Status)
	assert.Equal(t, "no", body)
	assert.Equal(t, "1000000", resp.Header.Get("Retry-After"))
	assert.Equal(t, []string{"a", "b"}, resp.Header.Values("X-Lower"))
	assert.NotContains(t, resp.Header, "Content-Type")
}

func TestFaultsMayDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		post(t, faulty(Fault{Delay: time.Minute}), chatURL, "{}")
		assert.Equal(t, time.Minute, time.Since(begun))
	})
}

func TestWhatABodyAsksFor(t *testing.T) {
	for body, want := range map[string]struct {
		input, most float64
		last        string
	}{
		``:                                  {},
		`[1]`:                               {},
		`{"n":"x"}`:                         {},
		`not JSON`:                          {},
		`{"prompt":5}`:                      {},
		`{"prompt":"12345","max_tokens":3}`: {2, 3, "12345"},
		`{"prompt":["1234","1234"]}`:        {2, 0, "1234"},
		`{"messages":[{"role":"user","content":[{"type":"text","text":"日本語日本語日"}]}]}`:      {2, 0, "日本語日本語日"},
		`{"messages":[{"content":null},{"content":"ab"}]}`:                                 {1, 0, "ab"},
		`{"max_tokens":-4,"input":""}`:                                                     {},
		`{"max_tokens":3,"max_completion_tokens":8,"messages":"12345678","prompt":"1234"}`: {3, 8, "12345678"},
	} {
		a, _ := parseAsk([]byte(body))
		assert.Equal(t, want.input, a.input, body)
		assert.Equal(t, want.most, a.limit(), body)
		assert.Equal(t, want.last, a.last, body)
	}
}
