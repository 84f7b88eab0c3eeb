package throttle

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

// withToken makes a call with a bearer token.
func withToken(c *http.Client, ctx context.Context, url, token string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := c.Do(req)
	if err == nil {
		resp.Body.Close()
	}
	return resp, err
}

func TestCON04LimitOfOneKeyStopsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(nil)
		s.reply = func(n int, r *http.Request) reply {
			if r.Header.Get("Authorization") == "Bearer K1" && time.Since(s.start) < 30*time.Second {
				return reply{status: 429, header: map[string]string{"Retry-After": "30"}}
			}
			return reply{}
		}
		cl, _ := client(t, s, WithKey(ByHostAndCredential))
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := withToken(cl, t.Context(), api, "K1")
			assert.NoError(t, err)
		})
		time.Sleep(100 * time.Millisecond)
		for range 10 {
			_, err := withToken(cl, t.Context(), api, "K2")
			require.NoError(t, err)
		}
		assert.Less(t, time.Since(s.start), time.Second)
		wg.Wait()
		at := s.times()
		assert.GreaterOrEqual(t, at[len(at)-1], 30*time.Second)
		assert.Len(t, at, 12)
	})
}

func TestCON08OnlyWhoCanGoIsWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		var waits atomic.Int32
		cl, _ := client(t, s, WithPolicies(budget.PerSecond(1000).WithBurst(1)), WithObserver(ObserverFunc(func(_ context.Context, e Event) {
			if e.Kind == KindWait {
				waits.Add(1)
			}
		})))
		flood(t, cl, 10_000, api)
		assert.LessOrEqual(t, waits.Load(), int32(10_000), "each waits once")
		assert.Less(t, time.Since(s.start), 10500*time.Millisecond)
	})
}

func TestCON03NothingScarceIsHeldWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		s.latency = 50 * time.Millisecond
		cl, tr := client(t, s, WithMaxInFlightTotal(2))
		tr.Hold("a.example", time.Minute)
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() { get(cl, "http://a.example/") })
		}
		synctest.Wait()
		flood(t, cl, 10, "http://b.example/")
		assert.Less(t, time.Since(s.start), time.Second)
		wg.Wait()
	})
}

func TestCON07ArrivalOrderIsKeptAndTheBigOneIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		cl, _ := client(t, s, WithPolicies(budget.PerSecond(10).Of(budget.Tokens).WithBurst(10)))
		call := func(name string, tokens float64) {
			ctx := NewContext(t.Context(), Call{Cost: budget.Cost{budget.Tokens: tokens}})
			_, _, err := do(cl, ctx, http.MethodGet, "http://api.example/"+name, "")
			assert.NoError(t, err)
		}
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() { call(itoa(i), 1) })
			time.Sleep(time.Millisecond)
		}
		wg.Wait()
		for i, h := range s.hits {
			assert.Equal(t, "/"+itoa(i), h.req.URL.Path)
		}
		start := time.Now()
		var sent time.Time
		big := make(chan struct{})
		go func() {
			time.Sleep(time.Second)
			call("big", 10)
			sent = time.Now()
			close(big)
		}()
		for range 100 { // more than the rate, without an end
			wg.Go(func() { call("small", 1) })
			time.Sleep(time.Second / 12)
		}
		<-big
		assert.LessOrEqual(t, sent.Sub(start), 4*time.Second)
		wg.Wait()
	})
}

func TestCON05EveryHopIsChargedToItsOwnHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		hits := map[string]int{}
		base := roundTripper(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			hits[r.URL.Host]++
			mu.Unlock()
			if r.URL.Host == "a.example" {
				return &http.Response{StatusCode: 302, Header: http.Header{"Location": {"http://b.example/"}}, Body: http.NoBody, Request: r}, nil
			}
			assert.Empty(t, r.Header.Get("Authorization"))
			return &http.Response{StatusCode: 200, Body: http.NoBody, Request: r}, nil
		})
		cl, tr := client(t, base, WithPolicies(spaced(1)))
		start := time.Now()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				ctx := NewContext(t.Context(), Call{Key: "mine", Cost: budget.Cost{budget.Requests: 1}})
				_, err := withToken(cl, ctx, "http://a.example/", "secret")
				assert.NoError(t, err)
			})
		}
		wg.Wait()
		assert.Equal(t, map[string]int{"a.example": 3, "b.example": 3}, hits)
		assert.LessOrEqual(t, time.Since(start), 2200*time.Millisecond)
		keys := []string{}
		for _, s := range tr.Snapshot() {
			keys = append(keys, s.Key)
		}
		assert.Equal(t, []string{"b.example", "mine"}, keys, "the caller's key is for the first host alone")

		time.Sleep(time.Minute)
		tr.Hold("mine", time.Hour)
		start = time.Now()
		_, _, err := get(cl, "http://b.example/")
		require.NoError(t, err)
		assert.Zero(t, time.Since(start))
	})
}

func TestCON06OneHostHasOneSpelling(t *testing.T) {
	for url, key := range map[string]string{
		"https://API.Example.test/x":      "api.example.test",
		"https://api.example.test:443/x":  "api.example.test",
		"https://api.example.test./x":     "api.example.test",
		"https://api.example.test:8443/x": "api.example.test:8443",
		"http://api.example.test:80":      "api.example.test",
		"http://api.example.test:443":     "api.example.test:443",
		"https://[::1]:443/":              "[::1]",
		"https://[::1]:8443/":             "[::1]:8443",
		"https://BÜCHER.example/":         "xn--bcher-kva.example",
		"https://xn--bcher-kva.example/":  "xn--bcher-kva.example",
	} {
		req, err := http.NewRequest(http.MethodGet, url, nil)
		require.NoError(t, err)
		assert.Equal(t, key, ByHost(req), url)
	}
}

func TestCON09FullQueueRefusesAndNeverBypasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		cl, _ := client(t, s, WithPolicies(spaced(1)), WithMaxQueue(10))
		var wg sync.WaitGroup
		var full atomic.Int32
		for range 1000 {
			wg.Go(func() {
				_, _, err := get(cl, api)
				if err != nil {
					assert.ErrorIs(t, err, ErrQueueFull)
					full.Add(1)
				}
			})
		}
		wg.Wait()
		assert.EqualValues(t, 1000-s.count(), full.Load())
		assert.LessOrEqual(t, s.count(), 11)
		at := s.times()
		assert.GreaterOrEqual(t, at[2], time.Second, "two in the first second at the most")
	})
}

func TestCON10KeyWithWaitersIsNotDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		cl, tr := client(t, s, WithPolicies(budget.PerHour(6).WithBurst(1)), WithMaxHold(24*time.Hour))
		var wg sync.WaitGroup
		for range 31 {
			wg.Go(func() { get(cl, api) })
		}
		synctest.Wait()
		l := tr.find("api.example")
		for range 30 { // each longer than an idle key is kept
			time.Sleep(10 * time.Minute)
			assert.Same(t, l, tr.find("api.example"))
		}
		wg.Wait()
		assert.Equal(t, 31, s.count())
	})
}

// slots is a server that refuses whatever is more than so many at once.
func slots(s *server, most int) func(int, *http.Request) reply {
	var open atomic.Int32
	return func(int, *http.Request) reply {
		if open.Load() >= int32(most) {
			return reply{status: 429}
		}
		open.Add(1)
		time.AfterFunc(s.latency-time.Millisecond, func() { open.Add(-1) })
		return reply{}
	}
}

func TestCON12InFlightCapMeetsAConcurrencyLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(nil)
		s.latency = 200 * time.Millisecond
		s.reply = slots(s, 5)
		cl, _ := client(t, s, WithMaxInFlight(5))
		flood(t, cl, 100, api)
		assert.Equal(t, 100, s.count(), "nothing is refused")
		assert.LessOrEqual(t, time.Since(s.start), 4500*time.Millisecond)
	})
}

// Where nothing is declared the cap is found. What it costs is judged in whole runs, with networks of every kind, elsewhere.
func TestCON12ConcurrencyLimitIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(nil)
		s.latency = 200 * time.Millisecond
		s.reply = slots(s, 5)
		cl, _ := client(t, s)
		work := make(chan struct{}, 100)
		for range 100 {
			work <- struct{}{}
		}
		close(work)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				for range work {
					resp, _, err := get(cl, api)
					if assert.NoError(t, err) {
						assert.Equal(t, 200, resp.StatusCode)
					}
				}
			})
		}
		wg.Wait()
		assert.LessOrEqual(t, s.count()-100, 10, "refused")
	})
}
