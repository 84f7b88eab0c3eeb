package throttle

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/backoff"
	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
)

// tooMany is a 429 with headers, given as name, value, name, value.
func tooMany(pairs ...string) reply { return reply{status: 429, header: fields(pairs...)} }

func fields(pairs ...string) map[string]string {
	h := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		h[pairs[i]] = pairs[i+1]
	}
	return h
}

// second is when the second attempt came after a first answer, in a bubble of its own; a negative time = never.
func second(t *testing.T, first func() reply, opts ...Option) (at time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(script(first()))
		cl, _ := client(t, s, opts...)
		_, _, err := get(cl, api)
		require.NoError(t, err)
		if s.count() < 2 {
			at = -1
			return
		}
		at = s.times()[1]
	})
	return at
}

// about asserts that a wait is as the server said, but for what is added against network jitter: a hundredth, and never less.
func about(t *testing.T, want, got time.Duration, what string) {
	t.Helper()
	assert.GreaterOrEqual(t, got, want, what)
	assert.LessOrEqual(t, got, want+want/100+100*time.Millisecond, what)
}

// Where the case asks for a wait of 60 s at most: the longest hold that a call bears.
func TestHDR01HugeRetryAfterIsNeverAShortWait(t *testing.T) {
	for _, v := range []string{"9223372036", "9223372037", "9223372036854775807", "99999999999999999999", "9999999999", "18446744074"} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(script(tooMany("Retry-After", v)))
			cl, _ := client(t, s, WithMaxHold(time.Minute), WithBackoff(backoff.Policy{Initial: 80 * time.Second, Max: 80 * time.Second, Jitter: backoff.None}))
			resp, _, err := do(cl, within(t, time.Minute), http.MethodGet, api, "")
			require.NoError(t, err)
			assert.Equal(t, 429, resp.StatusCode, v)
			assert.Equal(t, 1, s.count(), v)
			assert.Less(t, time.Since(s.start), 100*time.Millisecond, v)
		})
	}
}

func TestHDR02NegativeOrPastRetryAfterIsNoHotLoop(t *testing.T) {
	for _, v := range []string{"-1", "-0.5", "Wed, 21 Oct 2015 07:28:00 GMT", "Date-1s"} {
		t.Run(v, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(func(n int, _ *http.Request) reply {
					if n > 5 {
						return reply{}
					}
					past := v
					if v == "Date-1s" {
						past = time.Now().Add(-time.Second).UTC().Format(http.TimeFormat)
					}
					return tooMany("Retry-After", past, "Date", time.Now().UTC().Format(http.TimeFormat))
				})
				cl, _ := client(t, s, WithMaxAttempts(7))
				resp, _, err := get(cl, api)
				require.NoError(t, err)
				assert.Equal(t, 200, resp.StatusCode)
				at := s.times()
				require.Len(t, at, 6)
				for i := range 5 {
					assert.GreaterOrEqual(t, at[i+1]-at[i], 250*time.Millisecond)
				}
			})
		})
	}
}

// The case allows 15.5 s for five retries. Here a server that names no limit and no wait is believed less and less: it may take 31 s.
func TestHDR03MissingOrZeroRetryAfterIsBackoff(t *testing.T) {
	for name, r := range map[string]reply{"missing": tooMany(), "zero": tooMany("Retry-After", "0")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(func(int, *http.Request) reply { return r })
				cl, _ := client(t, s, WithMaxAttempts(6), WithPolicies(budget.PerSecond(1000)))
				resp, _, err := get(cl, api)
				require.NoError(t, err)
				assert.Equal(t, 429, resp.StatusCode)
				at := s.times()
				require.Len(t, at, 6)
				for i := range 5 {
					assert.GreaterOrEqual(t, at[i+1]-at[i], 250*time.Millisecond)
				}
				assert.GreaterOrEqual(t, at[5]-at[4], 4*time.Second, "it grows")
				assert.LessOrEqual(t, at[5], 31*time.Second)
			})
		})
	}
}

func TestHDR04DatesInEveryLayout(t *testing.T) {
	for _, layout := range []string{http.TimeFormat, "Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC} {
		at := second(t, func() reply {
			now := time.Now().UTC()
			return tooMany("Date", now.Format(http.TimeFormat), "Retry-After", now.Add(30*time.Second).Format(layout))
		})
		about(t, 30*time.Second, at, layout)
	}
}

func TestHDR06FractionsOfASecond(t *testing.T) {
	about(t, 2*time.Second, second(t, func() reply { return tooMany("Retry-After", "2.0") }), "2.0")
	var held time.Duration
	at := second(t, func() reply { return tooMany("Retry-After", "0.5") }, WithObserver(ObserverFunc(func(_ context.Context, e Event) {
		if e.Kind == KindHold {
			held = e.Duration
		}
	})))
	about(t, 500*time.Millisecond, held, "0.5")
	assert.GreaterOrEqual(t, at, held)
	assert.LessOrEqual(t, at, 1100*time.Millisecond, "a limit that is not announced may be one of a second")
	for _, v := range []string{"0.001", "NaN", "Inf", "1e3"} { // less than the floor, or malformed: the own backoff
		at := second(t, func() reply { return tooMany("Retry-After", v) }, WithPolicies(budget.PerSecond(1000)))
		assert.GreaterOrEqual(t, at, 250*time.Millisecond, v)
		assert.LessOrEqual(t, at, time.Second, v)
	}
}

func TestHDR07MillisecondsBesideSeconds(t *testing.T) {
	about(t, 1500*time.Millisecond, second(t, func() reply { return tooMany("Retry-After-Ms", "1500", "Retry-After", "2") }), "finer")
	about(t, 2*time.Second, second(t, func() reply { return tooMany("Retry-After-Ms", "-1", "Retry-After", "2") }), "malformed")
}

func TestHDR08HoldIsKeptInFullOrNotAtAll(t *testing.T) {
	for v, want := range map[string]time.Duration{"59": 59 * time.Second, "60": time.Minute} {
		about(t, want, second(t, func() reply { return tooMany("Retry-After", v) }, WithMaxHold(time.Minute)), v)
	}
	for v, asked := range map[string]time.Duration{"61": 61 * time.Second, "3600": time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(func(int, *http.Request) reply {
				return reply{status: 429, header: fields("Retry-After", v), body: "busy"}
			})
			cl, _ := client(t, s, WithMaxHold(time.Minute))
			resp, body, err := get(cl, api)
			require.NoError(t, err)
			assert.Less(t, time.Since(s.start), 100*time.Millisecond)
			assert.Equal(t, 429, resp.StatusCode)
			assert.Equal(t, "busy", body)
			r, _ := ResultOf(resp)
			assert.Equal(t, HoldTooLong, r.Stop)
			assert.Equal(t, asked, r.Asked)

			_, _, err = get(cl, api) // whoever comes later is told so, without asking the server
			var limit *LimitError
			require.ErrorAs(t, err, &limit)
			assert.ErrorIs(t, err, ErrMaxHold)
			about(t, asked, limit.Wait, v)
			assert.Equal(t, time.Minute, limit.Cap)
			assert.Equal(t, v, limit.Header.Get("Retry-After"))
			assert.Equal(t, 1, s.count())
		})
	}
}

func TestHDR09LongHoldHoldsTheKeyThoughTheCallGaveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(script(tooMany("Retry-After", "1800")))
		cl, _ := client(t, s, WithMaxHold(15*time.Minute))
		resp, _, err := get(cl, api)
		require.NoError(t, err)
		r, _ := ResultOf(resp)
		assert.Equal(t, HoldTooLong, r.Stop)
		time.Sleep(time.Minute)
		before := time.Now()
		_, _, err = do(cl, within(t, 10*time.Second), http.MethodGet, api, "")
		require.Error(t, err)
		assert.Equal(t, before, time.Now())
		time.Sleep(29*time.Minute + time.Second)
		resp, _, err = get(cl, api)
		require.NoError(t, err)
		assert.Equal(t, 200, resp.StatusCode)
		assert.Equal(t, 2, s.count())
	})
}

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
	for _, v := range []string{"4102444800", "abc"} { // the year 2100, and nonsense
		at := second(t, func() reply {
			return tooMany("X-RateLimit-Limit", "10", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", v)
		})
		assert.Less(t, at, 61*time.Second, v)
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
				state, _ := tr.State("api.example")
				require.Len(t, state.Budgets, 2)
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
		cl, _ := client(t, s)
		flood(t, cl, 1, api)
		flood(t, cl, 9, api)
		flood(t, cl, 25, api)
		assert.Zero(t, refused)
		at := s.times()
		require.Len(t, at, 35)
		assert.Less(t, at[29], time.Minute, "thirty before the reset")
		assert.GreaterOrEqual(t, at[30], time.Minute)
	})
}

// github is a 403 with GitHub's signs.
func github(body, remaining, reset string) reply {
	return reply{status: 403, header: fields("X-RateLimit-Limit", "15000", "X-RateLimit-Remaining", remaining, "X-RateLimit-Reset", reset), body: body}
}

func TestHDR21ForbiddenIsALimitOnlyWithItsSigns(t *testing.T) {
	const secondary = `{"message":"You have exceeded a secondary rate limit."}`
	at := second(t, func() reply { return github(secondary, "14463", "2100") })
	assert.GreaterOrEqual(t, at, time.Minute)
	assert.LessOrEqual(t, at, 75*time.Second)
	about(t, 20*time.Second, second(t, func() reply { return github("", "0", "20") }), "exhausted")
	synctest.Test(t, func(t *testing.T) {
		const body = `{"message":"Resource not accessible by integration"}`
		s := newServer(func(int, *http.Request) reply { return github(body, "4000", "2100") })
		cl, _ := client(t, s)
		resp, got, err := get(cl, api)
		require.NoError(t, err)
		assert.Equal(t, 403, resp.StatusCode)
		assert.Equal(t, body, got)
		assert.Equal(t, 1, s.count())
		assert.Zero(t, time.Since(s.start))
	})
}

func TestHDR22SecondaryLimitDoesNotWaitForTheHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(script(github("secondary rate limit", "14463", "2100")))
		cl, _ := client(t, s)
		var wg sync.WaitGroup
		wg.Go(func() { flood(t, cl, 1, api) })
		time.Sleep(time.Second)
		for range 5 {
			wg.Go(func() {
				resp, _, err := do(cl, within(t, 3*time.Minute), http.MethodGet, api, "")
				if assert.NoError(t, err) {
					assert.Equal(t, 200, resp.StatusCode)
				}
			})
		}
		wg.Wait()
		at := s.times()
		require.Len(t, at, 7)
		assert.GreaterOrEqual(t, at[1], time.Minute)
		assert.LessOrEqual(t, at[6], 80*time.Second)
	})
}

func TestHDR25QuotaThatIsSpentIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const body = `{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}`
		s := newServer(func(int, *http.Request) reply { return reply{status: 429, body: body} })
		cl, _ := client(t, s, WithMaxAttempts(5))
		resp, got, err := get(cl, api)
		require.NoError(t, err)
		assert.Equal(t, body, got)
		assert.Equal(t, 1, s.count())
		assert.Less(t, time.Since(s.start), 200*time.Millisecond)
		r, _ := ResultOf(resp)
		assert.Equal(t, HopelessRefusal, r.Stop)
	})
}

func TestHDR27ServersOwnWordOnRetrying(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			first reply
			hits  int
		}{
			{tooMany("Retry-After", "1", "X-Should-Retry", "false"), 1},
			{reply{status: 409, header: fields("X-Should-Retry", "true")}, 2},
			{reply{status: 503, header: fields("X-Should-Retry", "false")}, 1},
			{reply{status: 200, header: fields("X-Should-Retry", "true")}, 1},
		} {
			s := newServer(script(c.first))
			cl, _ := client(t, s)
			_, _, err := do(cl, t.Context(), http.MethodPost, api, "payload")
			require.NoError(t, err)
			assert.Equal(t, c.hits, s.count(), c.first)
		}
	})
}

func TestHDR28ThrottlingInsideASuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(script(reply{body: `{"errors":[{"type":"RATE_LIMITED"}]}`}, reply{body: "good"}))
		cl, _ := client(t, s, WithVerdict(func(_ *http.Response, peek func() []byte) Verdict {
			if strings.Contains(string(peek()), "RATE_LIMITED") {
				return Refused
			}
			return ByDefault
		}), WithReport(func(r *headers.Report, _ *http.Response, peek func() []byte) {
			if strings.Contains(string(peek()), "RATE_LIMITED") {
				r.RetryAfter = headers.Some(time.Second)
			}
		}))
		_, body, err := get(cl, api)
		require.NoError(t, err)
		assert.Equal(t, "good", body)
		require.Equal(t, 2, s.count())
		about(t, time.Second, s.times()[1], "the wait told by the body")
	})
	synctest.Test(t, func(t *testing.T) {
		const stream = "event: error\ndata: {\"type\":\"overloaded_error\"}\n\n"
		s := newServer(script(reply{header: fields("Content-Type", "text/event-stream"), body: stream}))
		cl, tr := client(t, s)
		resp, body, err := get(cl, api)
		require.NoError(t, err)
		assert.Equal(t, stream, body)
		tr.Hold(tr.Key(resp.Request), 5*time.Second)
		_, _, err = do(cl, context.Background(), http.MethodGet, api, "")
		require.NoError(t, err)
		assert.Equal(t, []time.Duration{0, 5 * time.Second}, s.times())
	})
}
