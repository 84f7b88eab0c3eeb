package throttletest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed-18ca0a92/throttle/headers"
)

// promising are the laws whose Remaining is a promise: a queue's are places, and a quantised limit's is not kept, on purpose.
func promising() map[string]Limit {
	out := map[string]Limit{}
	for name, c := range laws() {
		if name != "leaky queue" && name != "no queue" && name != "quantised" && name != "concurrency" {
			out[name] = c.Limit
		}
	}
	return out
}

// heard is what an answer says about requests, read as a client reads it.
func heard(t *testing.T, u *Upstream) (status int, q headers.Quota) {
	t.Helper()
	resp, _ := post(t, u, chatURL, "{}")
	for _, q := range headers.Parse(resp.Header, resp.StatusCode, time.Now()).Quotas {
		if q.Unit == "requests" || q.Unit == "" {
			return resp.StatusCode, q
		}
	}
	require.Fail(t, "no quota", "%v", resp.Header)
	return 0, q
}

// TestRemainingIsAPromise sends exactly as many calls as an answer says are left, which all pass, and one more, which does not.
func TestRemainingIsAPromise(t *testing.T) {
	for name, l := range promising() {
		for d := headers.XRateLimit; d <= headers.Discord; d++ {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					u := NewUpstream(WithLimits(l), WithDialect(d))
					for range 5 {
						time.Sleep(1234 * time.Millisecond)
						_, q := heard(t, u)
						for q.Remaining.Value > 0 {
							before, status := q.Remaining.Value, 0
							status, q = heard(t, u)
							require.Equal(t, 200, status)
							require.Equal(t, before-1, q.Remaining.Value)
						}
						status, _ := heard(t, u)
						require.Equal(t, 429, status)
					}
				})
			})
		}
	}
}

// TestAResetIsKept waits for the moment that an answer names, and finds what it stands for.
func TestAResetIsKept(t *testing.T) {
	for name, l := range promising() {
		for _, d := range []headers.Dialect{headers.OpenAI, headers.XRateLimit, headers.XRateLimitMilli, headers.Anthropic, headers.Discord} {
			for _, meaning := range []Meaning{UntilFull, UntilNext} {
				t.Run(name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						time.Sleep(345 * time.Millisecond)
						u := NewUpstream(WithLimits(l), WithAnnounce(Announce{Dialect: d, Reset: meaning}))
						status, q := heard(t, u)
						for status == 200 {
							status, q = heard(t, u)
						}
						time.Sleep(q.Reset.Value)
						status, q = heard(t, u)
						require.Equal(t, 200, status, "something is back")
						if meaning == UntilFull {
							require.Equal(t, q.Limit.Value-1, q.Remaining.Value, "and all of it")
						}
					})
				})
			}
		}
	}
}

// TestRoundingsAreHonestAboutTheirSide holds a told reset against the true one.
func TestRoundingsAreHonestAboutTheirSide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "d"))
		for _, c := range []struct {
			Rounding
			low, high time.Duration // of what is told less what is
		}{
			{Up, 0, time.Second - 1}, {Usual, 0, time.Second - 1}, {Down, 1 - time.Second, 0},
			{Nearest, -time.Second / 2, time.Second / 2}, {Exact, 0, time.Millisecond - 1},
		} {
			if off := c.second(d) - d; off < c.low || off > c.high {
				t.Fatalf("rounding %v: %v became %v", c.Rounding, d, c.second(d))
			}
		}
	})
}

// TestAToldMomentDoesNotDependOnWhenItIsTold asks for the same edge at two times: a clock that rounds gives the same moment.
func TestAToldMomentDoesNotDependOnWhenItIsTold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		edge := dawn.Add(time.Duration(rapid.Int64Range(int64(time.Minute), int64(time.Hour)).Draw(t, "edge")))
		a := Announce{Dialect: headers.GitHub, Round: Rounding(rapid.IntRange(int(Usual), int(Nearest)).Draw(t, "rounding"))}
		told := func(what string) time.Time {
			clock := dawn.Add(time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, what)))
			return clock.Add(a.tell(clock, edge.Sub(clock)))
		}
		first, second := told("first"), told("second")
		if !first.Equal(second) || first.Nanosecond() != 0 {
			t.Fatalf("%v is told as %v and as %v", edge, first, second)
		}
	})
}
