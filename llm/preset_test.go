package llm

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

func post(t *testing.T, url, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	return req
}

const chatURL = "https://api.example/v1/chat/completions"

func chat(model, text string) string {
	return `{"model":"` + model + `","messages":[{"role":"user","content":"` + text + `"}],"max_tokens":100}`
}

// client is a throttled client on an upstream, for virtual time.
func client(t *testing.T, up http.RoundTripper, opts ...throttle.Option) *http.Client {
	t.Helper()
	tr, err := throttle.NewTransport(up, append([]throttle.Option{Preset()}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, tr.Close()) })
	return &http.Client{Transport: tr}
}

func send(t *testing.T, c *http.Client, req *http.Request) (status int, body string) {
	t.Helper()
	resp, err := c.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(text)
}

func TestKeysByHostCredentialAndModel(t *testing.T) {
	with := func(key, model string) string {
		req := post(t, chatURL, chat(model, "x"))
		req.Header.Set("Authorization", "Bearer "+key)
		return ByModel(req)
	}
	assert.Equal(t, with("k1", "m"), with("k1", "m"))
	assert.NotEqual(t, with("k1", "m"), with("k1", "n"))
	assert.NotEqual(t, with("k1", "m"), with("k2", "m"))
	assert.True(t, strings.HasPrefix(with("k1", "m"), "api.example#"))
	assert.True(t, strings.HasSuffix(with("k1", "m"), " m"))
	assert.NotContains(t, with("k1", "m"), "k1")
	assert.Equal(t, "api.example", ByModel(post(t, chatURL, `{}`)))
	assert.Empty(t, ByModel(nil))
}

func TestTheModelInThePathCounts(t *testing.T) {
	for url, want := range map[string]string{
		"https://x.openai.azure.com/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21":      "my-gpt",
		"https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent":          "gemini-2.5-flash",
		"https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-3-haiku-20240307-v1/invoke": "anthropic.claude-3-haiku-20240307-v1",
		chatURL: "in-the-body",
	} {
		assert.Equal(t, want, promptOf(post(t, url, chat("in-the-body", "x"))).Model, url)
	}
}

// Nothing of the body is taken away, and what cannot be read twice is not read at all.
func TestTheBodyStaysWhole(t *testing.T) {
	body := chat("m", "hello")
	req := post(t, chatURL, body)
	ByModel(req)
	Cost(req)
	left, err := io.ReadAll(req.Body)
	require.NoError(t, err)
	assert.Equal(t, body, string(left))

	once := post(t, chatURL, body)
	once.GetBody = nil
	assert.Equal(t, Prompt{}, promptOf(once))
	form := post(t, chatURL, body)
	form.Header.Set("Content-Type", "multipart/form-data")
	assert.Equal(t, Prompt{}, promptOf(form))
	broken := post(t, chatURL, body)
	broken.GetBody = func() (io.ReadCloser, error) { return nil, io.ErrClosedPipe }
	assert.Equal(t, Prompt{}, promptOf(broken))
	assert.Equal(t, Prompt{}, promptOf(nil))
}

func TestAPromptInTheContextIsBelieved(t *testing.T) {
	p := Prompt{Model: "known", Chars: 400, MaxOutput: 7}
	req := post(t, chatURL, chat("m", "hello"))
	req = req.WithContext(NewContext(req.Context(), p))
	assert.Equal(t, p, promptOf(req))
	assert.Equal(t, budget.Cost{budget.Tokens: 111, budget.InputTokens: 104, budget.OutputTokens: 7}, Cost(req))
}

func TestWhatMayBeRepeated(t *testing.T) {
	for path, want := range map[string]bool{
		"/v1/chat/completions": true, "/openai/deployments/x/chat/completions": true, "/v1/messages": true, "/v1/responses": true,
		"/v1/embeddings": true, "/v1beta/models/g:generateContent": true, "/v1beta/models/g:streamGenerateContent": true,
		"/v1/files": false, "/v1/batches": false, "/v1/fine_tuning/jobs": false, "/v1/messages/batches": false, "/": false,
	} {
		assert.Equal(t, want, Repeatable(post(t, "https://api.example"+path, "{}")), path)
	}
	assert.False(t, Repeatable(nil))
}

// A spent account: one call that tells so, unharmed, and no retries.
func TestASpentQuotaIsHopeless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quota := recorded(t, "errors", "openai_429_quota.json")
		up := throttletest.NewUpstream(throttletest.WithFaults(func(int, *http.Request) *throttletest.Fault {
			return &throttletest.Fault{Status: 429, Body: quota}
		}))
		resp, err := client(t, up, throttle.WithMaxAttempts(5)).Do(post(t, chatURL, chat("m", "x")))
		require.NoError(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Equal(t, quota, body)
		assert.Equal(t, 1, up.Stats().Arrivals)
		result, ok := throttle.ResultOf(resp)
		assert.True(t, ok)
		assert.Equal(t, throttle.HopelessRefusal, result.Stop)
	})
}

// A chat call is a POST, and is still tried again when the server fails in the middle of it.
func TestChatCallsAreRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := throttletest.NewUpstream(throttletest.WithFaults(throttletest.Statuses(500, 503)))
		status, _ := send(t, client(t, up), post(t, chatURL, chat("m", "x")))
		assert.Equal(t, 200, status)
		assert.Equal(t, 3, up.Stats().Arrivals)
	})
}

func TestAnOverloadedModelIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := throttletest.NewUpstream(throttletest.WithFaults(throttletest.FirstCalls(2, throttletest.Fault{Status: 500, Body: recorded(t, "errors", "anthropic_529.json")})))
		status, _ := send(t, client(t, up), post(t, "https://api.example/v1/files", `{}`))
		assert.Equal(t, 200, status, "also a call that must not be repeated: it was not processed")
		assert.Equal(t, 3, up.Stats().Arrivals)
	})
}

// Each call may ask for 100 tokens of answer and gets 10: a budget that reserved the limit would let one call in eight through at a time.
func TestTokensAreSettledByTheUsage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 400
		up := throttletest.NewUpstream(
			throttletest.WithLatency(throttletest.Latency{Service: throttletest.Constant(100 * time.Millisecond)}),
			throttletest.WithOutputTokens(10, 0),
		)
		c := client(t, up, throttle.WithPolicies(budget.PerMinute(2000).Of(budget.Tokens)))
		began := time.Now()
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range n / 8 {
					send(t, c, post(t, chatURL, chat("m", strings.Repeat("word ", 8))))
				}
			})
		}
		all.Wait()
		used := float64(n * 25) // some 15 of prompt and 10 of answer
		least := time.Duration((used - 2000) / 2000 * float64(time.Minute))
		assert.Less(t, time.Since(began), least*13/10)
		assert.Equal(t, n, up.Stats().Admitted)
	})
}

// Streams tell their usage at their end.
func TestStreamsAreSettledToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := NewEstimator()
		up := throttletest.NewUpstream(throttletest.WithOutputTokens(12, 0))
		tr, err := throttle.NewTransport(up, e.Preset(), throttle.WithPolicies(budget.PerMinute(100_000).Of(budget.Tokens)))
		require.NoError(t, err)
		defer tr.Close()
		body := strings.Replace(chat("m", "x"), "{", `{"stream":true,`, 1)
		for range enough {
			_, text := send(t, &http.Client{Transport: tr}, post(t, chatURL, body))
			assert.Contains(t, text, "[DONE]")
		}
		assert.Equal(t, 12, e.Estimate(Inspect([]byte(body))).Output)
	})
}

func TestUsageTeachesTheEstimator(t *testing.T) {
	e := NewEstimator()
	req := post(t, chatURL, chat("m", "x"))
	resp := &http.Response{Request: req}
	for range enough {
		cost := e.Usage(resp, []byte(`{"usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14}}`))
		assert.Equal(t, budget.Cost{budget.Tokens: 14, budget.InputTokens: 9, budget.OutputTokens: 5}, cost)
	}
	assert.Nil(t, e.Usage(resp, []byte(`{}`)))
	assert.Equal(t, 5, e.Estimate(promptOf(req)).Output)
}

func TestPresetsShareNothing(t *testing.T) {
	var seen bytes.Buffer
	for range 2 {
		tr, err := throttle.NewTransport(nil, Preset())
		require.NoError(t, err)
		seen.WriteString(tr.Key(post(t, chatURL, chat("m", "x"))))
		require.NoError(t, tr.Close())
	}
	assert.Equal(t, "api.example mapi.example m", seen.String())
	_, err := throttle.NewTransport(nil, Preset(), Preset())
	assert.Error(t, err, "two presets contradict each other")
}

// What a newcomer tries first: one call after the other against a server of his own, which answers at once and counts fewer tokens than were
// reckoned.
func TestAServerThatAnswersAtOnceRefusesNothing(t *testing.T) {
	for _, pause := range []time.Duration{10 * time.Microsecond, 100 * time.Microsecond, time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			up := throttletest.NewUpstream(
				throttletest.WithLimits(throttletest.TokenBucket(1000, time.Second, 1000).Of(budget.Tokens)), throttletest.WithDialect(headers.OpenAI))
			tr, err := throttle.NewTransport(up, Preset())
			require.NoError(t, err)
			defer tr.Close()
			client := &http.Client{Transport: tr}
			start := time.Now()
			for range 92 { // of 54 tokens each
				body := `{"model":"small","max_tokens":50,"messages":[{"role":"user","content":"Name one river."}]}`
				resp, err := client.Post("http://api.example/v1/chat/completions", "application/json", strings.NewReader(body))
				require.NoError(t, err)
				_, err = io.Copy(io.Discard, resp.Body)
				require.NoError(t, err)
				resp.Body.Close()
				time.Sleep(pause)
			}
			assert.Zero(t, up.Stats().Refused, "pause %v", pause)
			assert.Less(t, time.Since(start), 4100*time.Millisecond, "3.97 s are needed")
		})
	}
}
