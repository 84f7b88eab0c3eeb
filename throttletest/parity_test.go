package throttletest

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
)

// TestBothFormsGiveTheSameAnswers makes the same calls over a socket and without one. Nothing in it comes back within a day, so
// that the time of day does not matter.
func TestBothFormsGiveTheSameAnswers(t *testing.T) {
	order := func() *Upstream {
		return NewUpstream(WithSeed(3), WithOutputTokens(40, 0.6), WithRefusalStatus(529), WithHint(NoHint, Usual),
			WithLimits(TokenBucket(6, 1e6*time.Hour, 6), TokenBucket(900, 1e6*time.Hour, 900).Of(budget.Tokens)),
			WithAnnounce(Announce{Dialect: headers.XRateLimit}), WithBan(Ban{Refusals: 3, Within: time.Hour, For: 1000 * time.Hour, Status: 403}),
			WithFaults(func(n int, _ *http.Request) *Fault {
				return map[int]*Fault{
					2: {Status: 500, Header: http.Header{"X-Why": {"because"}}}, 4: {Pad: 1000}, 5: {Body: []byte("own")},
					6: {Torn: true, After: 3}, 7: {Status: 204},
				}[n]
			}))
	}
	socket, plain := order(), order()
	url, rt := served(t, socket)
	for i := range 14 {
		a := exchange(t, rt, url, i)
		b := exchange(t, plain, "http://api.example", i)
		assert.Equal(t, a, b, "call %d", i+1)
	}
	assert.Equal(t, socket.Stats().ByReason, plain.Stats().ByReason)
	assert.Equal(t, map[Reason]int{Faulted: 2, Admitted: 6, OverLimit: 3, Banned: 3}, plain.Stats().ByReason)
}

// timed is what an answer says about the time.
var timed = regexp.MustCompile(`"created":\d+|try again in [0-9hms.]+`)

// exchanged is what a client sees of a call.
type exchanged struct {
	status int
	length int64
	header http.Header
	body   string
	broke  bool
}

// exchange makes the i-th call of the series.
func exchange(t *testing.T, rt http.RoundTripper, base string, i int) exchanged {
	t.Helper()
	paths := []string{"/v1/chat/completions", "/v1/embeddings", "/other"}
	body := hello + `}`
	if i%4 == 0 {
		body = hello + `,"stream":true}`
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+paths[i%3], strings.NewReader(body))
	require.NoError(t, err)
	resp, err := rt.RoundTrip(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	var text strings.Builder
	_, err = io.Copy(&text, resp.Body)
	for _, name := range []string{"Date", "X-Ratelimit-Reset", "X-Ratelimit-Reset-Tokens", "Content-Length"} {
		resp.Header.Del(name) // of the time, or of the transfer
	}
	return exchanged{resp.StatusCode, resp.ContentLength, resp.Header, timed.ReplaceAllString(text.String(), ""), err != nil}
}
