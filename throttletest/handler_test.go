package throttletest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// served is the upstream on a loopback port, and a transport for it.
func served(t *testing.T, u *Upstream) (url string, rt *http.Transport) {
	t.Helper()
	s := httptest.NewServer(u)
	rt = &http.Transport{}
	t.Cleanup(func() { rt.CloseIdleConnections(); s.Close() })
	return s.URL, rt
}

// served2 is the same over HTTP/2.
func served2(t *testing.T, u *Upstream) (url string, rt http.RoundTripper) {
	t.Helper()
	s := httptest.NewUnstartedServer(u)
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL, s.Client().Transport
}

// fetch gets an answer with its body; either may fail.
func fetch(t *testing.T, rt http.RoundTripper, url string) (*http.Response, string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	resp, err := rt.RoundTrip(r)
	if err != nil {
		return nil, "", err
	}
	b, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	return resp, string(b), err
}

func TestHandlerAnswersAndRefuses(t *testing.T) {
	for name, serve := range map[string]func(*testing.T, *Upstream) (string, http.RoundTripper){
		"h1": func(t *testing.T, u *Upstream) (string, http.RoundTripper) { return served(t, u) },
		"h2": served2,
	} {
		t.Run(name, func(t *testing.T) {
			u := NewUpstream(WithLimits(SlidingLog(1, time.Hour)))
			url, rt := serve(t, u)
			resp, body := post(t, rt, url+"/v1/chat/completions", `{"messages":[{"content":"ping"}]}`)
			assert.Equal(t, 200, resp.StatusCode)
			assert.Contains(t, body, "You said: ping")
			assert.Equal(t, "req_1", resp.Header.Get("X-Request-Id"))
			assert.Equal(t, "HTTP/"+name[1:], resp.Proto[:6])
			resp, _ = post(t, rt, url+"/v1/chat/completions", `{}`)
			assert.Equal(t, 429, resp.StatusCode)
			assert.Equal(t, "3600", resp.Header.Get("Retry-After"))
			assert.Equal(t, 1000.0, u.Stats().RefusedPer1000())
		})
	}
}

func TestHandlerStreams(t *testing.T) {
	u := NewUpstream(WithLatency(Latency{PerToken: time.Millisecond}))
	url, rt := served(t, u)
	resp, body := post(t, rt, url+"/v1/chat/completions", hello+`,"stream":true}`)
	assert.Equal(t, []string{"chunked"}, resp.TransferEncoding)
	assert.Equal(t, 12, strings.Count(body, "data: "), "nine with text, the end, the usage, and [DONE]")
}

func TestHandlerBreaksConnections(t *testing.T) {
	url, rt := served(t, faulty(Fault{Reset: true}))
	_, _, err := fetch(t, rt, url)
	assert.ErrorIs(t, err, syscall.ECONNRESET)

	url, rt = served(t, faulty(Fault{Body: []byte("0123456789"), Torn: true, After: 4}))
	resp, body, err := fetch(t, rt, url)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Equal(t, 200, resp.StatusCode)
	assert.Equal(t, "0123", body)
}

func TestHandlerBreaksStreamsOfHTTP2(t *testing.T) {
	url, rt := served2(t, faulty(Fault{Reset: true}))
	_, _, err := fetch(t, rt, url)
	assert.ErrorContains(t, err, "stream error")
	_, _, err = fetch(t, rt, url)
	assert.NoError(t, err, "the connection lives")

	url, rt = served2(t, faulty(Fault{Upgrade: "echo"}))
	_, _, err = fetch(t, rt, url)
	assert.ErrorContains(t, err, "stream error", "HTTP/2 has no upgrade")
}

func TestHandlerSendsHugeAndSlowBodiesWhole(t *testing.T) {
	url, rt := served(t, faulty(Fault{Pad: 2_000_000}))
	resp, body, err := fetch(t, rt, url)
	require.NoError(t, err)
	assert.Len(t, body, int(resp.ContentLength))
	assert.Greater(t, len(body), 2_000_000)
	parse(t, body)

	url, rt = served(t, faulty(Fault{Drip: time.Microsecond, Body: make([]byte, 1000)}))
	_, body, err = fetch(t, rt, url)
	require.NoError(t, err)
	assert.Len(t, body, 1000)
}

// waitFor looks until a condition holds or the test's patience of 10 s ends.
func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	require.Eventually(t, is, 10*time.Second, time.Millisecond, what)
}

func TestHandlerHoldsTheSlotUntilTheClientIsGone(t *testing.T) {
	u := faulty(Fault{Pad: -1, Drip: time.Millisecond}, WithLimits(Concurrency(1)))
	url, rt := served(t, u)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	resp, err := rt.RoundTrip(r)
	require.NoError(t, err)
	_, err = io.CopyN(io.Discard, resp.Body, 100_000)
	require.NoError(t, err)
	refused, _, err := fetch(t, rt, url)
	require.NoError(t, err)
	assert.Equal(t, 429, refused.StatusCode)
	assert.Empty(t, refused.Header.Get("Retry-After"), "nobody knows when it ends")
	resp.Body.Close()
	waitFor(t, "the slot is free", func() bool { return u.Stats().Open == 0 })
}

func TestHandlerFreesTheSlotOfAClientThatGivesUp(t *testing.T) {
	for name, l := range map[string]Latency{
		"on the way out": {Network: time.Hour},
		"being served":   {Service: Constant(time.Hour)},
		"between events": {PerToken: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			u := NewUpstream(WithLatency(l))
			url, rt := served(t, u)
			ctx, cancel := context.WithCancel(t.Context())
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/chat/completions", strings.NewReader(`{"stream":true}`))
			require.NoError(t, err)
			time.AfterFunc(20*time.Millisecond, cancel)
			if resp, err := rt.RoundTrip(r); err == nil {
				_, err = io.ReadAll(resp.Body)
				require.ErrorIs(t, err, context.Canceled)
				resp.Body.Close()
			}
			waitFor(t, "it has arrived and left", func() bool { s := u.Stats(); return s.Admitted == 1 && s.Open == 0 })
		})
	}
}

func TestHandlerUpgradesAndEchoes(t *testing.T) {
	url, _ := served(t, faulty(Fault{Upgrade: "echo"}))
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	back := bufio.NewReader(conn)
	resp, err := http.ReadResponse(back, nil)
	require.NoError(t, err)
	assert.Equal(t, 101, resp.StatusCode)
	assert.Equal(t, "echo", resp.Header.Get("Upgrade"))
	fmt.Fprint(conn, "hello\n")
	line, err := back.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "hello\n", line)
}

func TestRoundTripCannotUpgrade(t *testing.T) {
	_, err := faulty(Fault{Upgrade: "echo"}).RoundTrip(request("{}"))
	assert.ErrorContains(t, err, "use the upstream as a handler")
}

// short is a body that ends too soon.
type short struct{ io.Reader }

func (short) Close() error { return nil }

func TestBodiesThatAreNotAsLongAsTheySaid(t *testing.T) {
	r := request("{}")
	r.ContentLength = 5
	u := NewUpstream()
	_, err := u.RoundTrip(r)
	require.ErrorIs(t, err, errBody)
	assert.EqualError(t, err, "throttletest: ContentLength=5 with Body length 2: the body of a request is not as long as it said")
	assert.Zero(t, u.Stats().Arrivals)
}

func TestBodiesThatDoNotSayHowLongTheyAre(t *testing.T) {
	for _, unknown := range []int64{0, -1} {
		r := request("{}")
		r.ContentLength = unknown
		u := NewUpstream()
		resp, err := u.RoundTrip(r)
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, int64(2), u.Arrivals()[0].Size)
	}
}

func TestHandlerRefusesABodyThatBreaks(t *testing.T) {
	w := httptest.NewRecorder()
	r := request("")
	r.Body = short{io.MultiReader(strings.NewReader("{"), broken{})}
	NewUpstream().ServeHTTP(w, r)
	assert.Equal(t, 400, w.Code)
	assert.Equal(t, "broken\n", w.Body.String())
}

func TestBodiesAreHashedToTheirEnd(t *testing.T) {
	u := NewUpstream()
	post(t, u, chatURL, strings.Repeat("x", kept+5))
	post(t, u, chatURL, strings.Repeat("x", kept+4)+"y")
	a := u.Arrivals()
	assert.Equal(t, int64(kept+5), a[0].Size)
	assert.NotEqual(t, a[0].Sum, a[1].Sum)
	_, err := read(&http.Request{Body: short{io.MultiReader(strings.NewReader(strings.Repeat("x", kept)), broken{})}})
	assert.EqualError(t, err, "broken")
}

// mute is a ResponseWriter whose connection is gone, and that can neither flush nor hijack.
type mute struct{ header http.Header }

func (m mute) Header() http.Header       { return m.header }
func (m mute) WriteHeader(int)           {}
func (m mute) Write([]byte) (int, error) { return 0, errors.New("gone") }

func TestHandlerWithoutAConnectionToBreak(t *testing.T) {
	NewUpstream().ServeHTTP(mute{http.Header{}}, request("{}"))
	assert.PanicsWithError(t, http.ErrAbortHandler.Error(), func() {
		faulty(Fault{Reset: true}).ServeHTTP(mute{http.Header{}}, request("{}"))
	})
}
