package throttle

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/headers"
)

// refilling is a server whose bucket of 1000 gets back 100 units a second, and says so. It lies about what is left while it is told to.
type refilling struct {
	*server
	left float64
	at   time.Time
	lie  string
}

func newRefilling() *refilling {
	r := &refilling{server: newServer(nil), left: 1000, at: time.Now()}
	r.reply = func(int, *http.Request) reply {
		now := time.Now()
		r.left = min(1000, r.left+100*now.Sub(r.at).Seconds()) - 1
		r.at = now
		left, reset := itoa(int(r.left)), time.Duration((1000-r.left)/100*float64(time.Second)).String()
		if r.lie != "" {
			left = r.lie
		}
		return reply{header: fields("X-RateLimit-Limit-Requests", "1000", "X-RateLimit-Remaining-Requests", left, "X-RateLimit-Reset-Requests", reset)}
	}
	return r
}

// wellKnown is a client of a refilling server that has learned how it counts, and what is left by what it has been told.
func wellKnown(t *testing.T, opts ...Option) (s *refilling, call func(), left func() float64) {
	s = newRefilling()
	c, tr := client(t, s, opts...)
	call = func() {
		_, _, err := get(c, api)
		require.NoError(t, err)
	}
	for range 100 {
		call()
		time.Sleep(15 * time.Millisecond)
	}
	return s, call, func() float64 {
		state, ok := tr.State("api.example")
		require.True(t, ok)
		require.Len(t, state.Budgets, 1)
		return state.Budgets[0].Available
	}
}

// While there is plenty of everything, the answers of one moment are not all read; but none that comes later, and none while others wait.
func TestAnswersOfOneMomentAreReadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, call, left := wellKnown(t)
		call()
		s.lie = "300"
		call()
		assert.Greater(t, left(), 900.0, "what the answer before said")
		time.Sleep(ampleTime)
		call()
		assert.InDelta(t, 300, left(), 5)
		s.lie = "200"
		call()
		assert.InDelta(t, 200, left(), 5, "there is not plenty any more")
	})
}

func TestAnswerThatIsNotReadEndsItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, call, left := wellKnown(t)
		for range 50 {
			call()
		}
		time.Sleep(ampleTime)
		call()
		assert.InDelta(t, s.left, left(), 2, "calls that are not read count like the others")
	})
}

// A user's function sees every answer.
func TestEveryAnswerIsReadForAHook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := 0
		_, call, _ := wellKnown(t, WithReport(func(r *headers.Report, _ *http.Response, _ func() []byte) {
			if len(r.Quotas) > 0 {
				seen++
			}
		}))
		call()
		call()
		call()
		assert.Equal(t, 103, seen)
	})
}

func TestRefusalAmongPlentyIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, call, _ := wellKnown(t)
		call()
		usual, before := s.reply, time.Now()
		refused := false
		s.reply = func(n int, r *http.Request) reply {
			if !refused {
				refused = true
				return tooMany("Retry-After", "7")
			}
			return usual(n, r)
		}
		call()
		assert.GreaterOrEqual(t, time.Since(before), 7*time.Second)
	})
}

// A call that goes elsewhere may have to tell of a quota of its own, and does so each time just after another one.
func TestAnswerFromElsewhereIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newRefilling()
		c, tr := client(t, s)
		usual := s.reply
		s.reply = func(n int, r *http.Request) reply {
			if r.URL.Path != "/search" {
				return usual(n, r)
			}
			return reply{header: fields("X-RateLimit-Limit", "30", "X-RateLimit-Remaining", "29", "X-RateLimit-Reset", "60", "X-RateLimit-Resource", "search")}
		}
		for range 100 {
			get(c, api)
			time.Sleep(15 * time.Millisecond)
		}
		get(c, api)
		get(c, "http://api.example/search")
		state, _ := tr.State("api.example")
		require.Len(t, state.Budgets, 2)
		assert.Equal(t, "search", state.Budgets[1].Name)
	})
}

// A success may ask for a wait too, such as 202 Accepted: the caller is told each time.
func TestWaitThatASuccessAsksForIsNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newRefilling()
		c, _ := client(t, s)
		usual := s.reply
		s.reply = func(n int, r *http.Request) reply {
			a := usual(n, r)
			if n > 101 {
				a.status, a.header["Retry-After"] = http.StatusAccepted, "5"
			}
			return a
		}
		for range 100 {
			get(c, api)
			time.Sleep(15 * time.Millisecond)
		}
		get(c, api)
		resp, _, err := get(c, api)
		require.NoError(t, err)
		result, _ := ResultOf(resp)
		assert.Equal(t, 5*time.Second, result.Asked)
	})
}
