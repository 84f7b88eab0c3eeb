package throttle

import (
	"math"
	"net/http"
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
