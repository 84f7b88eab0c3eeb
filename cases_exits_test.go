package throttle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
)

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
				if name == "cancelled in the queue" || name == "cancelled in a backoff" {
					time.Sleep(time.Minute) // until its budget is there again, or its refusal is long ago
				}
				before := time.Now()
				resp, _, err := get(cl, api)
				require.NoError(t, err)
				assert.Equal(t, http.StatusOK, resp.StatusCode)
				assert.LessOrEqual(t, time.Since(before), 50*time.Millisecond)
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

// A cost function that panics as a call is about to leave: nothing was sent, and nothing stays spent.
func TestAPanicBeforeTheSendingGivesAllBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var panics atomic.Bool
		s := newServer(always)
		c, tr := client(t, s, WithPolicies(budget.PerMinute(1000).Of(budget.Tokens).WithBurst(1000)), WithCost(func(*http.Request) budget.Cost {
			if panics.Load() {
				panic("of the user")
			}
			return tokens(1000)
		}))
		prompt(t, c, api, time.Second)
		time.AfterFunc(time.Second, func() { panics.Store(true) })
		assert.Panics(t, func() { get(c, api) })
		assert.Equal(t, 1, s.count())
		state, _ := tr.State("api.example")
		assert.Zero(t, state.InFlight)
		time.Sleep(time.Minute)
		assert.Equal(t, 1000.0, budgetOf(t, tr, "api.example", "").Available)
	})
}

// An answer that was forgotten does not keep its lane for ever.
func TestALaneWithAForgottenAnswerIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, tr := client(t, newServer(func(int, *http.Request) reply { return reply{body: "never read"} }))
		resp, err := tr.RoundTrip(newRequest(t))
		require.NoError(t, err)
		assert.NotNil(t, resp)
		time.Sleep(24 * time.Hour)
		assert.Empty(t, tr.Snapshot())
	})
}

func TestABodyWhoseCloseFailsBadlyGivesItsSlotBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, tr := client(t, roundTripper(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: panicsAtClose{}, Request: r}, nil
		}), WithMaxInFlight(1))
		resp, err := tr.RoundTrip(newRequest(t))
		require.NoError(t, err)
		assert.Panics(t, func() { resp.Body.Close() })
		s, _ := tr.State("api.example")
		assert.Zero(t, s.InFlight)
	})
}

type panicsAtClose struct{}

func (panicsAtClose) Read([]byte) (int, error) { return 0, nil }

func (panicsAtClose) Close() error { panic("of the base") }

func newRequest(t *testing.T) *http.Request {
	req, err := http.NewRequest(http.MethodGet, api, nil)
	require.NoError(t, err)
	return req
}
