package throttle

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/headers"
)

// github is a 403 with GitHub's signs.
func github(body, remaining, reset string) reply {
	return reply{status: 403, header: fields("X-RateLimit-Limit", "15000", "X-RateLimit-Remaining", remaining, "X-RateLimit-Reset", reset), body: body}
}

func TestHDR21ForbiddenIsALimitOnlyWithItsSigns(t *testing.T) {
	const secondary = `{"message":"You have exceeded a secondary rate limit."}`
	at := second(t, func() reply { return github(secondary, "14463", "2100") })
	assert.GreaterOrEqual(t, at, time.Minute)
	assert.LessOrEqual(t, at, 75*time.Second)
	about(t, 20*time.Second, second(t, func() reply { return github("", "0", "20") }), "exhausted")
	synctest.Test(t, func(t *testing.T) {
		const body = `{"message":"Resource not accessible by integration"}`
		s := newServer(func(int, *http.Request) reply { return github(body, "4000", "2100") })
		cl, _ := client(t, s)
		resp, got, err := get(cl, api)
		require.NoError(t, err)
		assert.Equal(t, 403, resp.StatusCode)
		assert.Equal(t, body, got)
		assert.Equal(t, 1, s.count())
		assert.Zero(t, time.Since(s.start))
	})
}

func TestHDR22SecondaryLimitDoesNotWaitForTheHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(script(github("secondary rate limit", "14463", "2100")))
		cl, _ := client(t, s)
		var wg sync.WaitGroup
		wg.Go(func() { flood(t, cl, 1, api) })
		time.Sleep(time.Second)
		for range 5 {
			wg.Go(func() {
				resp, _, err := do(cl, within(t, 3*time.Minute), http.MethodGet, api, "")
				if assert.NoError(t, err) {
					assert.Equal(t, 200, resp.StatusCode)
				}
			})
		}
		wg.Wait()
		at := s.times()
		require.Len(t, at, 7)
		assert.GreaterOrEqual(t, at[1], time.Minute)
		assert.LessOrEqual(t, at[6], 80*time.Second)
	})
}

func TestHDR25QuotaThatIsSpentIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const body = `{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}`
		s := newServer(func(int, *http.Request) reply { return reply{status: 429, body: body} })
		cl, _ := client(t, s, WithMaxAttempts(5))
		resp, got, err := get(cl, api)
		require.NoError(t, err)
		assert.Equal(t, body, got)
		assert.Equal(t, 1, s.count())
		assert.Less(t, time.Since(s.start), 200*time.Millisecond)
		r, _ := ResultOf(resp)
		assert.Equal(t, HopelessRefusal, r.Stop)
	})
}

func TestHDR27ServersOwnWordOnRetrying(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			first reply
			hits  int
		}{
			{tooMany("Retry-After", "1", "X-Should-Retry", "false"), 1},
			{reply{status: 409, header: fields("X-Should-Retry", "true")}, 2},
			{reply{status: 503, header: fields("X-Should-Retry", "false")}, 1},
			{reply{status: 200, header: fields("X-Should-Retry", "true")}, 1},
		} {
			s := newServer(script(c.first))
			cl, _ := client(t, s)
			_, _, err := do(cl, t.Context(), http.MethodPost, api, "payload")
			require.NoError(t, err)
			assert.Equal(t, c.hits, s.count(), c.first)
		}
	})
}

func TestHDR28ThrottlingInsideASuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(script(reply{body: `{"errors":[{"type":"RATE_LIMITED"}]}`}, reply{body: "good"}))
		cl, _ := client(t, s, WithVerdict(func(_ *http.Response, peek func() []byte) Verdict {
			if strings.Contains(string(peek()), "RATE_LIMITED") {
				return Refused
			}
			return ByDefault
		}), WithReport(func(r *headers.Report, _ *http.Response, peek func() []byte) {
			if strings.Contains(string(peek()), "RATE_LIMITED") {
				r.RetryAfter = headers.Some(time.Second)
			}
		}))
		_, body, err := get(cl, api)
		require.NoError(t, err)
		assert.Equal(t, "good", body)
		require.Equal(t, 2, s.count())
		about(t, time.Second, s.times()[1], "the wait told by the body")
	})
	synctest.Test(t, func(t *testing.T) {
		const stream = "event: error\ndata: {\"type\":\"overloaded_error\"}\n\n"
		s := newServer(script(reply{header: fields("Content-Type", "text/event-stream"), body: stream}))
		cl, tr := client(t, s)
		resp, body, err := get(cl, api)
		require.NoError(t, err)
		assert.Equal(t, stream, body)
		tr.Hold(tr.Key(resp.Request), 5*time.Second)
		_, _, err = do(cl, context.Background(), http.MethodGet, api, "")
		require.NoError(t, err)
		assert.Equal(t, []time.Duration{0, 5 * time.Second}, s.times())
	})
}
