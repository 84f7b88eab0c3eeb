package throttletest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/headers"
)

const chatURL = "http://api.example/v1/chat/completions"

// post sends body and returns the answer with its body read.
func post(t *testing.T, rt http.RoundTripper, url, body string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	resp, err := rt.RoundTrip(r)
	require.NoError(t, err)
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp, string(b)
}

func TestRoundTripWindowOpensAgainAtTheEdge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := NewUpstream(WithLimits(FixedWindow(2, time.Minute).WithPhase(10*time.Second)), WithDialect(headers.OpenAI))
		for range 2 {
			resp, _ := post(t, u, chatURL, `{}`)
			require.Equal(t, 200, resp.StatusCode)
		}
		resp, body := post(t, u, chatURL, `{}`)
		assert.Equal(t, 429, resp.StatusCode)
		assert.Equal(t, "10", resp.Header.Get("Retry-After"), "the bubble starts at midnight, the edge is 10 s after it")
		assert.Equal(t, "0", resp.Header.Get("X-Ratelimit-Remaining-Requests"))
		assert.Contains(t, body, "rate_limit_exceeded")
		time.Sleep(10*time.Second - 1)
		resp, _ = post(t, u, chatURL, `{}`)
		assert.Equal(t, 429, resp.StatusCode)
		time.Sleep(time.Nanosecond)
		resp, _ = post(t, u, chatURL, `{}`)
		assert.Equal(t, 200, resp.StatusCode)
	})
}

func TestRoundTripTakesTheTimeOfNetworkAndService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := NewUpstream(WithLatency(Latency{
			Network: 20 * time.Millisecond, Service: Constant(300 * time.Millisecond),
			PerToken: 10 * time.Millisecond, Refusal: 2 * time.Millisecond,
		}), WithOutage(Outage{From: time.Second, For: time.Second}))
		begun := time.Now()
		_, body := post(t, u, chatURL, `{"max_tokens":5,"messages":[{"role":"user","content":"ping"}]}`)
		assert.Equal(t, 390*time.Millisecond, time.Since(begun))
		assert.Contains(t, body, `"You said: ping"`)
		assert.Contains(t, body, `"usage":{"prompt_tokens":1,"completion_tokens":5,"total_tokens":6}`)
		time.Sleep(time.Second)
		begun = time.Now()
		resp, _ := post(t, u, chatURL, `{}`)
		assert.Equal(t, 503, resp.StatusCode)
		assert.Equal(t, 42*time.Millisecond, time.Since(begun))
	})
}

// closes counts the closings of a body.
type closes struct {
	io.Reader
	n int
}

func (c *closes) Close() error { c.n++; return nil }

// stuck is a body that ends only by being closed.
type stuck struct{ *io.PipeReader }

func TestRoundTripClosesTheRequestBodyOnceOnEveryPath(t *testing.T) {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		body io.Reader
		opts []Option
	}{
		"answered":         {ctx: t.Context(), body: strings.NewReader("{}")},
		"context was over": {ctx: over, body: strings.NewReader("{}")},
		"body breaks":      {ctx: t.Context(), body: io.MultiReader(strings.NewReader("{"), broken{})},
		"reset":            {ctx: t.Context(), body: strings.NewReader("{}"), opts: []Option{WithFaults(FirstCalls(1, Fault{Reset: true}))}},
	} {
		t.Run(name, func(t *testing.T) {
			b := &closes{Reader: c.body}
			r, err := http.NewRequestWithContext(c.ctx, http.MethodPost, chatURL, b)
			require.NoError(t, err)
			if resp, err := NewUpstream(c.opts...).RoundTrip(r); err == nil {
				resp.Body.Close()
			}
			assert.Equal(t, 1, b.n)
		})
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("broken") }

func TestRoundTripEndsWithItsContextAtEveryStage(t *testing.T) {
	lat := Latency{Network: time.Second, Service: Constant(time.Second)}
	for name, c := range map[string]struct {
		after   time.Duration
		arrived int
	}{
		"on the way out":  {500 * time.Millisecond, 1},
		"being served":    {1500 * time.Millisecond, 1},
		"on the way back": {2500 * time.Millisecond, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := NewUpstream(WithLatency(lat), WithLimits(Concurrency(1)))
				cause := errors.New("enough")
				ctx, cancel := context.WithTimeoutCause(t.Context(), c.after, cause)
				defer cancel()
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://api.example/", nil)
				require.NoError(t, err)
				begun := time.Now()
				_, err = u.RoundTrip(r)
				require.ErrorIs(t, err, cause)
				assert.Equal(t, c.after, time.Since(begun))
				assert.Equal(t, c.arrived, u.Stats().Admitted)
				assert.Zero(t, u.Stats().Open, "the slot is free")
			})
		})
	}
}

func TestRoundTripFreesABodyThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		hung, _ := io.Pipe()
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, chatURL, stuck{hung})
		require.NoError(t, err)
		u := NewUpstream()
		_, err = u.RoundTrip(r)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Zero(t, u.Stats().Arrivals)
	})
}
