package throttle

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

const api = "http://api.example/v1/items"

func TestDeclaredLimitIsKeptAndUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		c, _ := client(t, s, WithPolicies(budget.PerMinute(10)))
		flood(t, c, 25, api)
		at := s.times()
		require.Len(t, at, 25)
		assert.Less(t, at[9], time.Second, "the first ten leave at once")
		for i := 10; i < len(at); i++ {
			assert.GreaterOrEqual(t, at[i]-at[i-10], time.Minute, "never more than ten in any minute")
		}
		assert.Less(t, at[24], 2*time.Minute+time.Second, "and nothing is left unused")
	})
}

func TestRefusalIsWaitedOutAndRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(script(reply{status: 429, header: map[string]string{"Retry-After": "30"}, body: "slow down"}))
		c, _ := client(t, s)
		resp, _, err := get(c, api)
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, resp.StatusCode)
		at := s.times()
		require.Len(t, at, 2)
		assert.GreaterOrEqual(t, at[1], 30*time.Second)
		assert.Less(t, at[1], 31*time.Second)
		r, ok := ResultOf(resp)
		require.True(t, ok)
		assert.Equal(t, 2, r.Attempts)
		assert.Equal(t, at[1], r.Held)
		assert.Zero(t, r.Waited)
		assert.Equal(t, Finished, r.Stop)
	})
}

func TestAnnouncedLimitIsKeptAndUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left, reset := 20, time.Now().Add(time.Minute)
		s := newServer(nil)
		s.latency = 50 * time.Millisecond
		refusals := 0
		s.reply = func(int, *http.Request) reply {
			if !time.Now().Before(reset) {
				left, reset = 20, reset.Add(time.Minute)
			}
			h := map[string]string{"X-RateLimit-Limit": "20", "X-RateLimit-Reset": seconds(time.Until(reset))}
			if left == 0 {
				refusals++
				h["X-RateLimit-Remaining"] = "0"
				return reply{status: 429, header: h}
			}
			left--
			h["X-RateLimit-Remaining"] = itoa(left)
			return reply{header: h}
		}
		c, _ := client(t, s)
		flood(t, c, 50, api)
		assert.Zero(t, refusals)
		assert.Less(t, time.Since(s.start), 2*time.Minute+2*time.Second)
	})
}

func TestFailureIsRepeatedOnlyWhereThatIsSafe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for method, hits := range map[string]int{"GET": 2, "PUT": 2, "POST": 1} {
			s := newServer(script(reply{status: 502, body: "bad gateway"}))
			c, _ := client(t, s)
			resp, body, err := do(c, t.Context(), method, api, "payload")
			require.NoError(t, err)
			assert.Equal(t, hits, s.count(), method)
			if r, _ := ResultOf(resp); method == "POST" {
				assert.Equal(t, "bad gateway", body)
				assert.Equal(t, NotIdempotent, r.Stop)
			} else {
				assert.Positive(t, r.BackedOff)
				assert.Equal(t, "payload", s.hits[1].body)
			}
		}
	})
}

func TestFirstCallThatHangsHoldsUpNobodyForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(script(reply{after: time.Hour}))
		c, _ := client(t, s)
		go get(c, api)
		synctest.Wait()
		flood(t, c, 5, api)
		assert.Equal(t, loneStart, time.Since(s.start), "as long as a lone start lasts")
		time.Sleep(time.Hour)
	})
}
