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

func TestHDR10ResetInEveryUnit(t *testing.T) {
	now := func() int64 { return time.Now().Unix() + 30 }
	for name, v := range map[string]func() string{
		"delta":        func() string { return "30" },
		"seconds":      func() string { return itoa(int(now())) },
		"milliseconds": func() string { return itoa(int(now()) * 1e3) },
		"microseconds": func() string { return itoa(int(now()) * 1e6) },
		"nanoseconds":  func() string { return itoa(int(now()) * 1e9) },
		"fraction":     func() string { return itoa(int(now())) + ".25" },
	} {
		at := second(t, func() reply {
			return tooMany("X-RateLimit-Limit", "10", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", v())
		})
		assert.InDelta(t, 30*time.Second, at, float64(1500*time.Millisecond), name)
	}
	for _, v := range []string{"4102444800", "abc"} { // the year 2100, and nonsense: what cannot be read is absent, and no event tells of it
		at := second(t, func() reply {
			return tooMany("X-RateLimit-Limit", "10", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", v)
		})
		assert.LessOrEqual(t, at, 8*time.Second, v)
		assert.GreaterOrEqual(t, at, 250*time.Millisecond, v)
	}
}

func TestHDR11PastResetIsNoLongWait(t *testing.T) {
	at := second(t, func() reply {
		return tooMany("X-RateLimit-Limit", "10", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", itoa(int(time.Now().Unix()-10)))
	})
	assert.GreaterOrEqual(t, at, 250*time.Millisecond)
	assert.LessOrEqual(t, at, 1500*time.Millisecond)
}

func TestHDR12DurationStringsOfAIServices(t *testing.T) {
	both := second(t, func() reply {
		return tooMany("X-Ratelimit-Limit-Requests", "10", "X-Ratelimit-Remaining-Requests", "0", "X-Ratelimit-Reset-Requests", "1s",
			"X-Ratelimit-Limit-Tokens", "1000", "X-Ratelimit-Remaining-Tokens", "0", "X-Ratelimit-Reset-Tokens", "6m0s")
	})
	about(t, 6*time.Minute, both, "both are exhausted")
	one := second(t, func() reply {
		return tooMany("X-Ratelimit-Limit-Requests", "10", "X-Ratelimit-Remaining-Requests", "0", "X-Ratelimit-Reset-Requests", "20ms",
			"X-Ratelimit-Limit-Tokens", "100000", "X-Ratelimit-Remaining-Tokens", "90000", "X-Ratelimit-Reset-Tokens", "6m0s")
	})
	assert.GreaterOrEqual(t, one, 250*time.Millisecond)
	assert.LessOrEqual(t, one, time.Second)
	unknown := second(t, func() reply { return tooMany("X-Ratelimit-Reset-Requests", "1s", "X-Ratelimit-Reset-Tokens", "6m0s") })
	about(t, 6*time.Minute, unknown, "nobody knows which")
}

func TestHDR13SentinelsAreUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(func(int, *http.Request) reply {
			return reply{header: fields("X-Ratelimit-Limit-Tokens", "-1", "X-Ratelimit-Remaining-Tokens", "-1", "X-Ratelimit-Reset-Tokens", "0")}
		})
		cl, tr := client(t, s, WithPolicies(budget.PerSecond(50)))
		for range 20 {
			_, _, err := get(cl, api)
			require.NoError(t, err)
		}
		assert.Less(t, time.Since(s.start), time.Second)
		state, _ := tr.State("api.example")
		for _, b := range state.Budgets {
			assert.NotEqual(t, SourceServer, b.Source)
		}
	})
}

func TestHDR14ResetOnASuccessIsNoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(func(n int, _ *http.Request) reply {
			return reply{header: fields("X-RateLimit-Limit", "5000", "X-RateLimit-Remaining", itoa(5000-n), "X-RateLimit-Reset", "3600", "Retry-After", "5")}
		})
		cl, _ := client(t, s)
		for range 10 {
			_, _, err := get(cl, api)
			require.NoError(t, err)
		}
		assert.Less(t, time.Since(s.start), time.Second)
	})
}

// twoLines answers with headers that come in several lines.
type twoLines struct {
	server
	lines http.Header
}

func (s *twoLines) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := s.server.RoundTrip(r)
	if err == nil && s.count() == 1 {
		for k, v := range s.lines {
			resp.Header[k] = v
		}
	}
	return resp, err
}

func TestHDR15SeveralPoliciesInOneField(t *testing.T) {
	for name, lines := range map[string]http.Header{
		"one line":  {"Ratelimit-Policy": {`"burst";q=100;w=60, "daily";q=1000;w=86400`}, "Ratelimit": {`"burst";r=0;t=20, "daily";r=121;t=300`}},
		"two lines": {"Ratelimit-Policy": {`"burst";q=100;w=60`, `"daily";q=1000;w=86400`}, "Ratelimit": {`"burst";r=0;t=20`, `"daily";r=121;t=300`}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &twoLines{*newServer(always), lines}
				cl, tr := client(t, s)
				_, _, err := get(cl, api)
				require.NoError(t, err)
				for name, left := range map[string]float64{"burst": 0, "daily": 121} {
					assert.Equal(t, left, budgetOf(t, tr, "api.example", name).Available)
				}
				_, _, err = get(cl, api)
				require.NoError(t, err)
				about(t, 20*time.Second, s.times()[1], "the burst is used up")
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := &twoLines{*newServer(always), http.Header{"Ratelimit-Policy": {`"bytes";q=100;w=60;qu="content-bytes"`}, "Ratelimit": {`"bytes";r=0;t=20`}}}
		cl, _ := client(t, s)
		flood(t, cl, 2, api)
		assert.Less(t, time.Since(s.start), time.Second, "bytes are no requests")
	})
}

func TestHDR16EverySyntaxOfRateLimit(t *testing.T) {
	for _, h := range []map[string]string{
		fields("RateLimit", `"default";r=0;t=30`, "RateLimit-Policy", `"default";q=100;w=60`),
		fields("RateLimit", `limit=100, remaining=0, reset=30`),
		fields("RateLimit-Limit", "100", "RateLimit-Remaining", "0", "RateLimit-Reset", "30"),
		fields("X-RateLimit-Limit", "100", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "30"),
		fields("X-Rate-Limit-Limit", "100", "X-Rate-Limit-Remaining", "0", "X-Rate-Limit-Reset", "30"),
		fields("X-RateLimit-Limit", "100", "X-RateLimit-Remaining", "40", "X-RateLimit-Reset", "5", "RateLimit", `"default";r=0;t=30`),
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(script(reply{header: h}))
			cl, _ := client(t, s)
			for range 2 {
				_, _, err := get(cl, api)
				require.NoError(t, err)
			}
			assert.InDelta(t, 30*time.Second, s.times()[1], float64(1200*time.Millisecond), h)
		})
	}
}

func TestHDR17AnswersInReverseOrderRaiseNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reset := time.Now().Add(time.Minute)
		left, refused := 30, 0
		s := newServer(nil)
		s.reply = func(n int, _ *http.Request) reply {
			if !time.Now().Before(reset) {
				left, reset = 30, reset.Add(time.Minute)
			}
			h := fields("X-RateLimit-Limit", "30", "X-RateLimit-Reset", seconds(time.Until(reset)))
			if left == 0 {
				refused++
				h["X-RateLimit-Remaining"] = "0"
				return reply{status: 429, header: h}
			}
			left--
			h["X-RateLimit-Remaining"] = itoa(left)
			after := 50 * time.Millisecond
			if n > 1 && n <= 10 {
				after = time.Duration(20-n) * 50 * time.Millisecond // who was sent last is answered first
			}
			return reply{header: h, after: after}
		}
		cl, tr := client(t, s)
		flood(t, cl, 1, api)
		flood(t, cl, 9, api)
		assert.Equal(t, 20.0, budgetOf(t, tr, "api.example", "").Available)
		flood(t, cl, 25, api)
		assert.Zero(t, refused)
		at := s.times()
		require.Len(t, at, 35)
		assert.Less(t, at[29], time.Minute, "thirty before the reset")
		assert.GreaterOrEqual(t, at[30], time.Minute)
	})
}

// A limit of which neither the rest nor the time is told binds nobody: a server with so many calls a second is not asked for one a second.
func TestALimitAloneIsNoBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(func(int, *http.Request) reply { return reply{header: fields("X-RateLimit-Limit", "10")} })
		cl, tr := client(t, s, WithPolicies(budget.PerSecond(10)))
		for range 60 {
			_, _, err := get(cl, api)
			require.NoError(t, err)
		}
		assert.Less(t, time.Since(s.start), 6*time.Second)
		state, _ := tr.State("api.example")
		for _, b := range state.Budgets {
			assert.Equal(t, SourceDeclared, b.Source)
		}
	})
}
