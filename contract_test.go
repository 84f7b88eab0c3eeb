package throttle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
)

// The obligations of an http.RoundTripper, as its documentation states them, and those that good ones have taken on beside.

func TestContractTheCallersRequestIsNotChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(script(reply{status: 429, header: map[string]string{"Retry-After": "1"}}, reply{status: 503}))
		_, tr := client(t, s, WithAttemptTimeout(time.Minute))
		req, err := http.NewRequest(http.MethodPut, api+"?q=1", strings.NewReader("payload"))
		require.NoError(t, err)
		req.Header.Set("X-Own", "value")
		before, url, header := *req, *req.URL, req.Header.Clone()
		resp, err := tr.RoundTrip(req)
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, 3, s.count())

		assert.Equal(t, url, *req.URL)
		assert.Equal(t, header, req.Header)
		after := *req
		assert.Equal(t, reflect.ValueOf(before.GetBody).Pointer(), reflect.ValueOf(after.GetBody).Pointer())
		before.GetBody, after.GetBody = nil, nil // functions cannot be compared
		assert.Equal(t, before, after)
		assert.Equal(t, before.Body, after.Body)
		assert.Equal(t, context.Background(), req.Context())
	})
}

func TestAPI02SharedRequestCanBeUsedByMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(func(n int, _ *http.Request) reply {
			if n%3 == 1 {
				return reply{status: 429, header: map[string]string{"Retry-After": "1"}}
			}
			return reply{}
		})
		cl, _ := client(t, s)
		req, err := http.NewRequest(http.MethodGet, api, nil)
		require.NoError(t, err)
		req.Header.Set("X-Own", "value")
		before := req.Header.Clone()
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				resp, err := cl.Do(req)
				if assert.NoError(t, err) {
					resp.Body.Close()
				}
			})
		}
		wg.Wait()
		assert.Equal(t, before, req.Header)
	})
}

func TestContractARefusalIsAResponseAndNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, status := range []int{400, 403, 404, 429, 500, 503, 529} {
			s := newServer(func(int, *http.Request) reply { return reply{status: status, body: "why"} })
			_, tr := client(t, s, WithMaxAttempts(2))
			req, err := http.NewRequest(http.MethodGet, api, nil)
			require.NoError(t, err)
			resp, err := tr.RoundTrip(req)
			require.NoError(t, err)
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.Equal(t, "why", string(body))
			assert.Equal(t, status, resp.StatusCode)
		}
	})
}

func TestContractRedirectsAreNotFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(script(reply{status: 503, header: map[string]string{"Retry-After": "1"}},
			reply{status: 302, header: map[string]string{"Location": "http://other.example/"}}))
		_, tr := client(t, s)
		req, err := http.NewRequest(http.MethodGet, api, nil)
		require.NoError(t, err)
		resp, err := tr.RoundTrip(req)
		require.NoError(t, err)
		assert.Equal(t, http.StatusFound, resp.StatusCode, "not even after a repetition")
		assert.Equal(t, 2, s.count())
	})
}

func TestContractCookiesAndAuthenticationAreLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		_, tr := client(t, s)
		req, err := http.NewRequest(http.MethodGet, "http://user:secret@api.example/", nil)
		require.NoError(t, err)
		_, err = tr.RoundTrip(req)
		require.NoError(t, err)
		assert.Empty(t, s.hits[0].req.Header)
	})
}

func TestContractABadRequestIsAnErrorAndItsBodyIsClosed(t *testing.T) {
	_, tr := client(t, newNoop())
	body := &tracked{Reader: strings.NewReader("x")}
	_, err := tr.RoundTrip(&http.Request{Method: http.MethodPost, Body: body})
	require.ErrorContains(t, err, "no URL")
	assert.Equal(t, 1, body.closes())
}

func TestContractAHandMadeRequestIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(script(reply{status: 500}))
		_, tr := client(t, s)
		req, err := http.NewRequest("", api, nil)
		require.NoError(t, err)
		_, err = tr.RoundTrip(&http.Request{URL: req.URL}) // no method, no header, no context
		require.NoError(t, err)
		assert.Equal(t, 2, s.count())
	})
}

func TestContractCloseIdleConnectionsReachesTheBase(t *testing.T) {
	base := &closer{}
	cl, _ := client(t, base)
	cl.CloseIdleConnections()
	assert.Equal(t, 1, base.closed)
	cl, _ = client(t, newNoop()) // a base that cannot
	cl.CloseIdleConnections()
}

type closer struct {
	noop
	closed int
}

func (c *closer) CloseIdleConnections() { c.closed++ }

func TestContractABaseThatReturnsNothingIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		_, tr := client(t, roundTripper(func(*http.Request) (*http.Response, error) { calls++; return nil, nil }), WithMaxInFlight(1))
		req, err := http.NewRequest(http.MethodGet, api, nil)
		require.NoError(t, err)
		for range 2 {
			_, err = tr.RoundTrip(req)
			require.ErrorContains(t, err, "neither a response nor an error")
		}
		assert.Equal(t, 2, calls)
	})
}

func TestContractABaseThatReturnsBothIsAnErrorAndTheBodyIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := &tracked{Reader: strings.NewReader("x")}
		_, tr := client(t, roundTripper(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: body}, errors.New("and an error")
		}), WithMaxAttempts(1))
		req, err := http.NewRequest(http.MethodGet, api, nil)
		require.NoError(t, err)
		resp, err := tr.RoundTrip(req)
		require.ErrorContains(t, err, "and an error")
		assert.Nil(t, resp)
		assert.Equal(t, 1, body.closes())
	})
}

func TestContractAResponseHasABodyAndItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stranger, err := http.NewRequest(http.MethodGet, "http://cache.example/", nil)
		require.NoError(t, err)
		for _, answered := range []*http.Request{nil, stranger} {
			_, tr := client(t, roundTripper(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Request: answered}, nil
			}))
			req, err := http.NewRequest(http.MethodGet, api, nil)
			require.NoError(t, err)
			resp, err := tr.RoundTrip(req)
			require.NoError(t, err)
			require.NotNil(t, resp.Body)
			assert.Equal(t, req.URL, resp.Request.URL)
			r, ok := ResultOf(resp)
			assert.True(t, ok)
			assert.Equal(t, 1, r.Attempts)
		}
	})
}

func TestContractErrorsAreWrappedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		s := newServer(func(int, *http.Request) reply { return reply{err: broken} })
		_, tr := client(t, s)
		req, err := http.NewRequest(http.MethodGet, api, nil)
		require.NoError(t, err)
		_, err = tr.RoundTrip(req)
		assert.Same(t, broken, err, "the base's own error is handed on as it is")

		_, tr = client(t, s, WithPolicies(budget.PerMinute(1)), WithMaxWait(NoWait), WithMaxAttempts(1))
		_, _ = tr.RoundTrip(req)
		_, err = tr.RoundTrip(req)
		assert.Equal(t, 1, strings.Count(err.Error(), "throttle:"))
	})
}

// nest is a transport in a transport in a transport.
func nest(t *testing.T, base http.RoundTripper) *http.Client {
	for range 3 {
		_, tr := client(t, base)
		base = tr
	}
	return &http.Client{Transport: base}
}

func TestContractNestedTransportsRetryOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(func(int, *http.Request) reply { return reply{status: 502} })
		resp, _, err := get(nest(t, s), api)
		require.NoError(t, err)
		assert.Equal(t, 502, resp.StatusCode)
		assert.Equal(t, defaultFailures, s.count())
		r, _ := ResultOf(resp)
		assert.Equal(t, defaultFailures, r.Attempts, "the record is that of the outermost one")

		s = newServer(func(int, *http.Request) reply {
			return reply{status: 429, header: map[string]string{"Retry-After": "1"}}
		})
		_, _, err = get(nest(t, s), api)
		require.NoError(t, err)
		assert.Equal(t, defaultRefusals, s.count())
	})
}

// An answer's request carries the record of its call. Whoever makes another call under that context makes a call of its own.
func TestContractACallUnderAnEndedCallIsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(func(n int, _ *http.Request) reply {
			if n == 2 {
				return reply{status: 502}
			}
			return reply{}
		})
		cl, _ := client(t, s)
		resp, _, err := get(cl, api)
		require.NoError(t, err)
		resp, _, err = do(cl, resp.Request.Context(), http.MethodGet, api, "")
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, resp.StatusCode, "it is repeated, as nobody outside does it")
	})
}

// Every way a call can end in the middle: afterwards nothing is in flight, nobody waits, and the next call goes.
func TestCON02EveryExitGivesItsSlotBack(t *testing.T) {
	boom := func() { panic("boom") }
	fine := reply{body: "fine"}
	for name, c := range map[string]struct {
		base  func(r *http.Request) (*http.Response, error)
		opt   Option
		call  Call
		stop  time.Duration
		panic bool
		exits bool
	}{
		"dial error":              {base: func(*http.Request) (*http.Response, error) { return nil, errors.New("dial") }},
		"tls error":               {base: func(*http.Request) (*http.Response, error) { return nil, errors.New("tls") }},
		"bad request":             {base: newServer(script(reply{status: 400})).RoundTrip},
		"no body":                 {base: func(*http.Request) (*http.Response, error) { return &http.Response{StatusCode: 200}, nil }},
		"no response":             {base: func(*http.Request) (*http.Response, error) { return nil, nil }},
		"panic in the base":       {base: func(*http.Request) (*http.Response, error) { boom(); return nil, nil }, panic: true},
		"end of the goroutine":    {base: func(*http.Request) (*http.Response, error) { runtime.Goexit(); return nil, nil }, exits: true},
		"panic in the verdict":    {opt: WithVerdict(func(*http.Response, func() []byte) Verdict { boom(); return 0 }), panic: true},
		"panic in the report":     {opt: WithReport(func(*headers.Report, *http.Response, func() []byte) { boom() }), panic: true},
		"panic in the key":        {opt: WithKey(func(*http.Request) string { boom(); return "" }), panic: true},
		"panic in the cost":       {opt: WithCost(func(*http.Request) budget.Cost { boom(); return nil }), panic: true},
		"panic in the policies":   {opt: WithPolicyFunc(func(string, *http.Request) ([]budget.Policy, error) { boom(); return nil, nil }), panic: true},
		"panic in the skip":       {opt: WithSkip(func(*http.Request) bool { boom(); return true }), panic: true},
		"panic in the observer":   {opt: WithObserver(ObserverFunc(func(context.Context, Event) { boom() }))},
		"panic in the usage":      {opt: WithUsage(func(*http.Response, []byte) budget.Cost { boom(); return nil })},
		"panic in the idempotent": {base: newServer(script(reply{status: 502})).RoundTrip, opt: WithIdempotent(func(*http.Request) bool { boom(); return true }), panic: true},
		"cancelled in flight":     {base: newServer(func(int, *http.Request) reply { return reply{after: time.Hour} }).RoundTrip, stop: time.Second},
		"attempt timeout":         {base: newServer(func(int, *http.Request) reply { return reply{after: time.Hour} }).RoundTrip, opt: WithAttemptTimeout(time.Second)},
		"cancelled in a backoff":  {base: newServer(func(int, *http.Request) reply { return reply{status: 429} }).RoundTrip, stop: 100 * time.Millisecond},
		"cancelled in a hold": {base: newServer(func(int, *http.Request) reply {
			return reply{status: 429, header: map[string]string{"Retry-After": "5"}}
		}).RoundTrip, stop: time.Second},
		"cancelled in the queue": {base: newServer(always).RoundTrip, opt: WithPolicies(budget.PerMinute(1)), stop: time.Second},
		"success":                {base: newServer(func(int, *http.Request) reply { return fine }).RoundTrip},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				armed := true
				base := roundTripper(func(r *http.Request) (*http.Response, error) {
					if armed && c.base != nil {
						return c.base(r)
					}
					return newServer(always).RoundTrip(r)
				})
				opts := []Option{WithMaxInFlight(1), WithMaxInFlightTotal(1)}
				if c.opt != nil {
					opts = append(opts, c.opt)
				}
				cl, tr := client(t, base, opts...)
				ctx, cancel := context.WithCancel(t.Context())
				if c.stop > 0 {
					time.AfterFunc(c.stop, cancel)
				}
				body := &tracked{Reader: strings.NewReader("payload")}
				ended := make(chan any)
				go func() {
					defer func() { ended <- recover() }()
					if name == "cancelled in the queue" {
						get(cl, api)
					}
					req, _ := http.NewRequestWithContext(ctx, http.MethodPost, api, body)
					req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("payload")), nil }
					if resp, err := cl.Do(req); err == nil {
						io.Copy(io.Discard, resp.Body)
						resp.Body.Close()
					}
				}()
				got := <-ended
				assert.Equal(t, c.panic, got != nil, "the panic goes on: %v", got)
				assert.LessOrEqual(t, body.closes(), 1)
				if c.base == nil {
					assert.Equal(t, 1, body.closes())
				}
				cancel()
				synctest.Wait()
				for _, s := range tr.Snapshot() {
					assert.Zero(t, s.InFlight)
					assert.Zero(t, s.Waiting)
				}
				if c.panic && c.opt != nil {
					return // a hook that always panics lets no call through
				}
				armed = false
				tr.Resume("api.example")
				time.Sleep(time.Minute)
				resp, _, err := get(cl, api)
				require.NoError(t, err)
				assert.Equal(t, http.StatusOK, resp.StatusCode)
			})
		})
	}
}

func TestPanicAfterAnAnswerClosesItsBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := &tracked{Reader: strings.NewReader("x")}
		_, tr := client(t, roundTripper(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 502, Body: body, Request: r}, nil
		}), WithIdempotent(func(*http.Request) bool { panic("boom") }))
		req, err := http.NewRequest(http.MethodPost, api, nil)
		require.NoError(t, err)
		assert.PanicsWithValue(t, "boom", func() { tr.RoundTrip(req) })
		assert.Equal(t, 1, body.closes())
	})
}

// Outside of a bubble: what becomes garbage is known to the garbage collector alone.
func TestForgottenBodyGivesItsSlotBack(t *testing.T) {
	s := listen(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, mib)) })
	forgotten := make(chan Event, 10)
	cl, _ := client(t, s.base, WithMaxInFlight(1), WithObserver(ObserverFunc(func(_ context.Context, e Event) {
		if e.Kind == KindForgotten {
			forgotten <- e
		}
	})))
	ctx, cancel := context.WithCancel(t.Context()) // outlives the call, as those of programs do
	defer cancel()
	func() {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
		require.NoError(t, err)
		resp, err := cl.Do(req)
		require.NoError(t, err)
		fmt.Fprint(io.Discard, resp.Status)
	}()
	require.Eventually(t, func() bool { runtime.GC(); return len(forgotten) == 1 }, 30*time.Second, 5*time.Millisecond)
	assert.Equal(t, mustHost(t, s.URL), (<-forgotten).Key)
	_, body, err := get(cl, s.URL)
	require.NoError(t, err)
	assert.Len(t, body, mib)
}
