package throttle

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
