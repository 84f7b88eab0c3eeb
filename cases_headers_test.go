package throttle

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/backoff"
	"github.com/seed-18ca0a92/throttle/budget"
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
				assert.LessOrEqual(t, at[5], 15500*time.Millisecond)
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
