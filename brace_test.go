package throttle

import (
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

// slowRefusal answers the second request with a 429 whose headers come at once and whose body trickles, and counts when each came.
func slowRefusal(header http.Header, at *[]time.Duration) roundTripper {
	var mu sync.Mutex
	return func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		*at = append(*at, time.Since(epoch))
		if len(*at) == 2 {
			return &http.Response{StatusCode: 429, Header: header, ContentLength: -1, Body: trickle(r), Request: r}, nil
		}
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
	}
}

// Others are stopped by the status of a refusal, not a second later when its body has been looked into.
func TestARefusalStopsTheOthersBeforeItsBodyIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		c, _ := client(t, slowRefusal(http.Header{"Retry-After": {"30"}}, &at), WithPolicies(budget.PerSecond(1000)))
		_, _, err := get(c, api)
		require.NoError(t, err)
		var wg sync.WaitGroup
		wg.Go(func() { get(c, api) })
		for range 9 {
			time.Sleep(100 * time.Millisecond)
			wg.Go(func() {
				came := time.Now()
				resp, _, err := get(c, api)
				if assert.NoError(t, err) {
					r, _ := ResultOf(resp)
					assert.Zero(t, r.Waited)
					assert.Equal(t, time.Since(came), r.Held, "all of it is the server's")
				}
			})
		}
		wg.Wait()
		require.Len(t, at, 12)
		about(t, 30*time.Second, at[2], "nobody left meanwhile")
		assert.Less(t, at[11], 31*time.Second)
	})
}

// What only looked like a refusal stops nobody any longer than it takes to find that out; and nobody is refused for it.
func TestWhatProvesNoRefusalStopsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		c, tr := client(t, slowRefusal(http.Header{"Retry-After": {"7200"}}, &at), WithPolicies(budget.PerSecond(1000)),
			WithVerdict(func(resp *http.Response, peek func() []byte) Verdict {
				peek()
				return Accepted
			}))
		_, _, err := get(c, api)
		require.NoError(t, err)
		go func() {
			resp, err := c.Get(api)
			if assert.NoError(t, err) {
				resp.Body.Close()
			}
		}()
		time.Sleep(peekTime / 2)
		_, _, err = do(c, within(t, peekTime/4), http.MethodGet, api, "")
		require.Error(t, err, "its own time was over")
		_, _, err = get(c, api)
		require.NoError(t, err)
		assert.Equal(t, []time.Duration{0, 0, peekTime}, at)
		s, _ := tr.State("api.example")
		assert.Zero(t, s.Hold)
	})
}

// A function of the user's that panics over a refusal leaves nobody behind.
func TestAPanicOverARefusalStopsNobodyForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(script(reply{}, reply{status: 429, body: "why"}))
		c, _ := client(t, s, WithPolicies(budget.PerSecond(1000)), WithVerdict(func(resp *http.Response, _ func() []byte) Verdict {
			if resp.StatusCode == 429 {
				panic("boom")
			}
			return ByDefault
		}))
		flood(t, c, 1, api)
		assert.Panics(t, func() { get(c, api) })
		flood(t, c, 1, api)
		assert.Equal(t, braceTime, time.Since(s.start))
	})
}

// The clock goes on while a body is read: who waits for a budget is not late by that.
func TestWhoWaitsIsNotLateForABodyThatTrickles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		c, _ := client(t, slowRefusal(http.Header{"Retry-After": {"1"}}, &at), WithPolicies(budget.PerSecond(0.5).WithBurst(2)), WithMaxAttempts(1))
		flood(t, c, 1, api)
		var wg sync.WaitGroup
		wg.Go(func() { get(c, api) })
		synctest.Wait()
		wg.Go(func() { get(c, api) })
		wg.Wait()
		require.Len(t, at, 3)
		assert.InDelta(t, 2*time.Second, at[2], float64(50*time.Millisecond))
	})
}
