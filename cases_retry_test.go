package throttle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/backoff"
)

func TestRTY01JitterStaysAtTheMaximum(t *testing.T) {
	p := backoff.Policy{Max: 8 * time.Second}
	seen := map[time.Duration]int{}
	var sum, squares float64
	const samples = 1000
	for range samples {
		d := p.Delay(20)
		assert.True(t, 250*time.Millisecond <= d && d <= 8*time.Second, d)
		seen[d.Round(time.Millisecond)]++
		sum += d.Seconds()
		squares += d.Seconds() * d.Seconds()
	}
	mean := sum / samples
	assert.GreaterOrEqual(t, math.Sqrt(squares/samples-mean*mean), 0.8)
	for d, n := range seen {
		assert.LessOrEqual(t, n, samples/20, d)
	}
}

func TestRTY02BackoffNeverOverflows(t *testing.T) {
	for _, p := range []backoff.Policy{
		{Initial: 500 * time.Millisecond, Max: 30 * time.Second, Jitter: backoff.None},
		{Initial: time.Nanosecond, Max: 24 * time.Hour, Jitter: backoff.None},
	} {
		before := time.Duration(0)
		for n := range 5001 {
			d := p.Delay(n)
			require.True(t, d > 0 && d <= p.Max && d >= before, "retry %d: %v", n, d)
			before = d
		}
	}
}

// plenty announces a limit that never binds, so that the refusals of a test are not taken for those of a limit that is to be worked out.
func plenty(h http.Header) {
	h.Set("X-RateLimit-Limit", "1000000")
	h.Set("X-RateLimit-Remaining", "999999")
	h.Set("X-RateLimit-Reset", "3600")
}

func TestRTY03NoConnectionIsLostToARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pipes(t, func(n int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After-Ms", "1")
			plenty(w.Header())
			w.WriteHeader([]int{200, 429, 503}[n%3])
			w.Write(make([]byte, 2<<10))
		})
		cl, _ := client(t, s.base, WithMaxInFlight(10), WithMaxAttempts(1000))
		flood(t, cl, 100, s.URL)
		_, opened, most := s.seen()
		assert.LessOrEqual(t, most, 10)
		assert.LessOrEqual(t, opened, 10, "the same few connections are used over and over")
	})
}

func TestRTY03RefusedToTheEndKeepsItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pipes(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After-Ms", "1")
			w.WriteHeader(429)
			w.Write(make([]byte, 2<<10))
		})
		cl, _ := client(t, s.base, WithMaxAttempts(4))
		for range 100 {
			resp, body, err := get(cl, s.URL)
			require.NoError(t, err)
			assert.Equal(t, 429, resp.StatusCode)
			assert.Len(t, body, 2<<10)
		}
		hits, opened, _ := s.seen()
		assert.Equal(t, 400, hits)
		assert.Equal(t, 1, opened)
	})
}

func TestRTY04BodiesUpToTheDrainLimitKeepTheirConnection(t *testing.T) {
	for size, connections := range map[int]int{0: 1, 1 << 10: 1, 4097: 1, 60 << 10: 1, 250 << 10: 1, 100 * mib: 11} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				chunk := make([]byte, 16<<10)
				var written atomic.Int64
				s := pipes(t, func(n int, w http.ResponseWriter, _ *http.Request) {
					if n == 11 {
						return
					}
					w.Header().Set("Retry-After-Ms", "1")
					w.WriteHeader(429)
					for left := size; left > 0; left -= len(chunk) {
						k, err := w.Write(chunk[:min(len(chunk), left)])
						written.Add(int64(k))
						if err != nil {
							return
						}
					}
				})
				cl, _ := client(t, s.base, WithMaxAttempts(11))
				resp, _, err := get(cl, s.URL)
				require.NoError(t, err)
				assert.Equal(t, 200, resp.StatusCode)
				_, opened, _ := s.seen()
				assert.Equal(t, connections, opened)
				assert.LessOrEqual(t, written.Load(), int64(10*mib), "no more than 1 MiB is read of each")
			})
		})
	}
}

// trickle is a body of one byte a second.
func trickle(r *http.Request) io.ReadCloser {
	return newSlowReader(r.Context(), 3600, time.Second)
}

func TestRTY04SlowBodyDoesNotLengthenTheWait(t *testing.T) {
	for name, c := range map[string]struct {
		header http.Header
		least  time.Duration
		most   time.Duration
	}{
		"named wait":  {http.Header{"Retry-After": {"2"}}, 2 * time.Second, 2200 * time.Millisecond},
		"own backoff": {http.Header{}, 2 * time.Second, 2200 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var at []time.Time
				base := roundTripper(func(r *http.Request) (*http.Response, error) {
					at = append(at, time.Now())
					if len(at) > 1 {
						return &http.Response{StatusCode: 200, Body: http.NoBody, Request: r}, nil
					}
					return &http.Response{StatusCode: 429, Header: c.header, ContentLength: -1, Body: trickle(r), Request: r}, nil
				})
				cl, _ := client(t, base, WithBackoff(backoff.Policy{Initial: 2 * time.Second, Jitter: backoff.None}))
				_, _, err := get(cl, api)
				require.NoError(t, err)
				require.Len(t, at, 2)
				assert.GreaterOrEqual(t, at[1].Sub(at[0]), c.least)
				assert.LessOrEqual(t, at[1].Sub(at[0]), c.most)
			})
		})
	}
}

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

func TestRTY12RefusalsOutlastAMinute(t *testing.T) {
	for range 20 { // the backoff is random
		synctest.Test(t, func(t *testing.T) {
			var s *server
			s = newServer(func(int, *http.Request) reply {
				if time.Since(s.start) < time.Minute {
					return reply{status: 429}
				}
				return reply{}
			})
			cl, _ := client(t, s, WithMaxWait(2*time.Minute))
			resp, _, err := do(cl, within(t, 150*time.Second), http.MethodGet, api, "")
			require.NoError(t, err)
			assert.Equal(t, 200, resp.StatusCode)
			assert.GreaterOrEqual(t, time.Since(s.start), time.Minute)
			assert.LessOrEqual(t, time.Since(s.start), 95*time.Second)
			assert.LessOrEqual(t, s.count(), 10)
		})
	}
}

func TestRetryBudgetBoundsTheLoadOnAServerThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(func(int, *http.Request) reply { return reply{status: 500} })
		cl, _ := client(t, s)
		const calls = 1000
		var spent atomic.Int32
		var wg sync.WaitGroup
		for range calls {
			wg.Go(func() {
				var r Result
				_, _, err := do(cl, NewContext(t.Context(), Call{Result: &r}), http.MethodGet, api, "")
				assert.NoError(t, err)
				if r.Stop == RetryBudgetSpent {
					spent.Add(1)
				}
			})
		}
		wg.Wait()
		regained := float64(time.Since(s.start)) / float64(retryRegain)
		assert.LessOrEqual(t, float64(s.count()), 1.2*calls+retryFloor+regained)
		assert.Greater(t, float64(s.count()), 1.15*calls, "and the budget is there to be used")
		assert.Positive(t, spent.Load())
	})
}

// A server that is not there at all is asked by one call at a time, less and less often.
func TestServerThatIsDownIsHardlyAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(func(int, *http.Request) reply { return reply{err: errors.New("reset")} })
		cl, _ := client(t, s)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() { do(cl, ctx, http.MethodGet, api, "") })
		}
		wg.Wait()
		probes := int(time.Hour / outageMost)
		assert.Less(t, s.count(), probes+30, "one at a time, and some at first")
		assert.Greater(t, s.count(), probes*9/10)
	})
}

func TestPAC15RetryBudgetComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fail := true
		s := newServer(func(int, *http.Request) reply {
			if fail {
				return reply{status: 502}
			}
			return reply{}
		})
		cl, _ := client(t, s)
		for range 50 {
			get(cl, api)
		}
		fail = false
		for range 100 {
			get(cl, api)
		}
		before := s.count()
		s.reply = func(n int, _ *http.Request) reply {
			if n == before+1 {
				return reply{status: 502}
			}
			return reply{}
		}
		resp, _, err := get(cl, api)
		require.NoError(t, err)
		assert.Equal(t, 200, resp.StatusCode)
		assert.Equal(t, before+2, s.count())
	})
}

func TestPAC15HoldEndsByTimeAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(script(reply{status: 429, header: map[string]string{"Retry-After": "5"}}))
		cl, _ := client(t, s, WithMaxAttempts(1))
		resp, _, err := get(cl, api)
		require.NoError(t, err)
		assert.Equal(t, 429, resp.StatusCode)
		time.Sleep(6 * time.Second)
		resp, _, err = get(cl, api)
		require.NoError(t, err)
		assert.Equal(t, 200, resp.StatusCode)
		assert.Equal(t, 6*time.Second, time.Since(s.start))
	})
}

// A thousand refused attempts over loopback go over the same few connections.
func TestThousandRefusalsKeepTheirConnections(t *testing.T) {
	s := listen(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(429)
		w.Write(make([]byte, 8<<10))
	})
	s.base.MaxIdleConnsPerHost = 4
	cl, _ := client(t, s.base)
	ctx := NewContext(t.Context(), Call{Bypass: true}) // what the refusals teach is not the point here
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 250 {
				resp, body, err := do(cl, ctx, http.MethodGet, s.URL, "")
				if assert.NoError(t, err) {
					assert.Equal(t, 429, resp.StatusCode)
					assert.Len(t, body, 8<<10)
				}
			}
		})
	}
	wg.Wait()
	hits, opened, _ := s.seen()
	assert.Equal(t, 1000, hits)
	assert.LessOrEqual(t, opened, 10)
}

func TestBypassIsNotRepeatedAfterARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, status := range []int{429, 502} {
			s := newServer(func(int, *http.Request) reply {
				return reply{status: status, header: map[string]string{"Retry-After": "30"}}
			})
			cl, _ := client(t, s)
			resp, _, err := do(cl, NewContext(t.Context(), Call{Bypass: true}), http.MethodGet, api, "")
			require.NoError(t, err)
			assert.Equal(t, status, resp.StatusCode)
			assert.Equal(t, 1, s.count(), "it never waits, and to repeat at once would be hammering")
			r, _ := ResultOf(resp)
			assert.Equal(t, WaitTooLong, r.Stop)
		}
	})
}

// All waiting counts towards the max wait: also the backoff after a failure.
func TestMaxWaitBoundsTheBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(func(int, *http.Request) reply { return reply{status: 502} })
		cl, _ := client(t, s, WithBackoff(backoff.Policy{Initial: 10 * time.Second, Jitter: backoff.None}), WithMaxWait(35*time.Second))
		resp, _, err := get(cl, api)
		require.NoError(t, err)
		r, _ := ResultOf(resp)
		assert.Equal(t, WaitTooLong, r.Stop)
		assert.Equal(t, 3, r.Attempts, "10 s and 20 s fit, 40 s more do not")
		assert.Equal(t, 30*time.Second, r.BackedOff)
	})
}

// A wait that the server names with a failure is borne like one after a refusal: in full or not at all.
func TestRetryAfterOnAFailureIsObeyed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for asked, hits := range map[string]int{"20": 2, "7200": 1} {
			s := newServer(script(reply{status: 500, header: map[string]string{"Retry-After": asked}}))
			cl, _ := client(t, s)
			resp, _, err := get(cl, api)
			require.NoError(t, err)
			assert.Equal(t, hits, s.count())
			if r, _ := ResultOf(resp); hits == 1 {
				assert.Equal(t, HoldTooLong, r.Stop)
				assert.Equal(t, 2*time.Hour, r.Asked)
			} else {
				assert.Equal(t, 20*time.Second, r.BackedOff)
			}
		}
	})
}
