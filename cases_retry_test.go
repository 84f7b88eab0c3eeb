package throttle

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRTY05LastAnswerReachesTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(func(n int, _ *http.Request) reply { return reply{status: 429, body: "B-" + itoa(n)} })
		var done Event
		cl, _ := client(t, s, WithMaxAttempts(4), WithObserver(ObserverFunc(func(_ context.Context, e Event) {
			if e.Kind == KindDone {
				done = e
			}
		})))
		resp, body, err := get(cl, api)
		require.NoError(t, err)
		assert.Equal(t, 429, resp.StatusCode)
		assert.Equal(t, "B-4", body)
		assert.Equal(t, 4, s.count())
		assert.Equal(t, 4, done.Result.Attempts)
		assert.Equal(t, AttemptsSpent, done.Result.Stop)
	})
}

// The table of retries: what the server does at the first attempt, and which requests it sees again.
func TestRTY06OnlyWhatIsSafeIsRepeated(t *testing.T) {
	reset := &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	outcomes := map[string]struct {
		first reply
		safe  bool // it was not processed: any method may be repeated
	}{
		"refusal":              {reply{status: 429, header: map[string]string{"Retry-After": "1"}}, true},
		"refusal without hint": {reply{status: 429}, true},
		"overloaded":           {reply{status: 529}, true},
		"unavailable until":    {reply{status: 503, header: map[string]string{"Retry-After": "1"}}, true},
		"unavailable":          {reply{status: 503}, false},
		"server error":         {reply{status: 500}, false},
		"bad gateway":          {reply{status: 502}, false},
		"reset":                {reply{err: reset}, false},
		"end of file":          {reply{err: io.ErrUnexpectedEOF}, false},
		"dial":                 {reply{err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}, true},
		"timeout":              {reply{after: time.Hour}, false},
	}
	methods := map[string]bool{"GET": true, "HEAD": true, "PUT": true, "DELETE": true, "OPTIONS": true, "POST": false, "PATCH": false}
	bodies := map[string]bool{"none": true, "replayable": true, "once": false}
	for what, o := range outcomes {
		for method, idempotent := range methods {
			for _, key := range []string{"", "Idempotency-Key", "call", "option"} {
				for body, replayable := range bodies {
					want := 1
					if (o.safe || idempotent || key != "") && replayable {
						want = 2
					}
					t.Run(what+" "+method+" "+key+" "+body, func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							s := newServer(script(o.first))
							opts := []Option{WithAttemptTimeout(time.Minute)}
							if key == "option" {
								opts = append(opts, WithIdempotent(func(*http.Request) bool { return true }))
							}
							_, tr := client(t, s, opts...)
							ctx := NewContext(t.Context(), Call{Idempotent: key == "call"})
							req, err := http.NewRequestWithContext(ctx, method, api, nil)
							require.NoError(t, err)
							if body != "none" {
								req, err = http.NewRequestWithContext(ctx, method, api, strings.NewReader("payload"))
								require.NoError(t, err)
							}
							if body == "once" {
								req.GetBody = nil
							}
							if key == "Idempotency-Key" {
								req.Header.Set(key, "1")
							}
							if resp, err := tr.RoundTrip(req); err == nil {
								resp.Body.Close()
							}
							require.Equal(t, want, s.count())
							for _, h := range s.hits {
								if body != "none" {
									assert.Equal(t, "payload", h.body)
								}
							}
						})
					})
				}
			}
		}
	}
}

func TestRTY06ResetBeforeAndAfterBytesOverRealConnections(t *testing.T) {
	for _, after := range []int{0, 10} {
		for method, key := range map[string]string{"GET": "", "POST": "", "PATCH": "1"} {
			t.Run(fmt.Sprint(method, after), func(t *testing.T) {
				s := listen(t, func(n int, w http.ResponseWriter, r *http.Request) {
					io.Copy(io.Discard, r.Body)
					if n > 1 {
						return
					}
					c, _, err := http.NewResponseController(w).Hijack()
					if assert.NoError(t, err) {
						io.WriteString(c, "HTTP/1.1 200 OK"[:after])
						c.(*net.TCPConn).SetLinger(0)
						c.Close()
					}
				})
				s.base.DisableKeepAlives = true // net/http itself repeats what it sent over a connection it had kept
				cl, _ := client(t, s.base, quick())
				req, err := http.NewRequest(method, s.URL, strings.NewReader("payload"))
				require.NoError(t, err)
				if key != "" {
					req.Header.Set("Idempotency-Key", key)
				}
				resp, err := cl.Do(req)
				hits, _, _ := s.seen()
				if method == "POST" {
					assert.Error(t, err)
					assert.Equal(t, 1, hits)
					return
				}
				require.NoError(t, err)
				resp.Body.Close()
				assert.Equal(t, 2, hits)
			})
		}
	}
}

// Only attempts that could bring another outcome are made.
func TestHopelessErrorsAreNotRepeated(t *testing.T) {
	for _, url := range []string{"gopher://api.example/", "http:///nowhere"} {
		calls := 0
		_, tr := client(t, roundTripper(func(r *http.Request) (*http.Response, error) {
			calls++
			return http.DefaultTransport.RoundTrip(r)
		}))
		req, err := http.NewRequest(http.MethodGet, url, nil)
		require.NoError(t, err)
		_, err = tr.RoundTrip(req)
		require.Error(t, err)
		assert.Equal(t, 1, calls, url)
	}
	calls := 0
	_, tr := client(t, roundTripper(func(r *http.Request) (*http.Response, error) {
		calls++
		return http.DefaultTransport.RoundTrip(r)
	}))
	req, err := http.NewRequest(http.MethodGet, "http://127.0.0.1/", nil)
	require.NoError(t, err)
	req.Header["X"] = []string{"a\nb"}
	_, err = tr.RoundTrip(req)
	require.ErrorContains(t, err, "invalid")
	assert.Equal(t, 1, calls, "an invalid header")
}

func TestCertificateThatIsNotTrustedIsNotRepeated(t *testing.T) {
	s := listenWith(t, func(int, http.ResponseWriter, *http.Request) {}, func(srv *httptest.Server) {
		srv.Config.ErrorLog = log.New(io.Discard, "", 0)
		srv.StartTLS()
	})
	calls := 0
	base := &http.Transport{}
	_, tr := client(t, roundTripper(func(r *http.Request) (*http.Response, error) { calls++; return base.RoundTrip(r) }))
	req, err := http.NewRequest(http.MethodGet, s.URL, nil)
	require.NoError(t, err)
	_, err = tr.RoundTrip(req)
	require.Error(t, err)
	assert.Equal(t, 1, calls)
}
