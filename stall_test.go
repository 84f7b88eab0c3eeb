package throttle

import (
	"context"
	"io"
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

// No call may wait for something that never comes: an answer that has been here, a call that nobody made, a body that is read for hours.

// small announces a limit of ten a minute, of which n are used.
func small(n int, _ *http.Request) reply {
	return reply{after: 50 * time.Millisecond,
		header: fields("X-RateLimit-Limit", "10", "X-RateLimit-Remaining", itoa(max(10-n, 0)), "X-RateLimit-Reset", "60")}
}

// prompt fails the test unless a call to url is answered within a time.
func prompt(t *testing.T, c *http.Client, url string, within time.Duration) {
	t.Helper()
	start := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	_, _, err := do(c, ctx, http.MethodGet, url, "")
	require.NoError(t, err, url)
	assert.LessOrEqual(t, time.Since(start), within, url)
}

// openEnded is a body that ends with its request's context.
type openEnded struct{ ctx context.Context }

func (b openEnded) Read([]byte) (int, error) { <-b.ctx.Done(); return 0, b.ctx.Err() }

func TestOpenStreamsHoldUpNobodyUnderNoLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, tr := client(t, roundTripper(func(r *http.Request) (*http.Response, error) {
			time.Sleep(20 * time.Millisecond)
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(openEnded{r.Context()}), Request: r}, nil
		}))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for range 20 {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, api, nil)
			require.NoError(t, err)
			_, err = tr.RoundTrip(req)
			require.NoError(t, err)
		}
		assert.Equal(t, 20*20*time.Millisecond, time.Since(epoch))
	})
}

func TestAStreamThatWasOpenBeforeTheLimitWasToldIsNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := client(t, newServer(func(n int, r *http.Request) reply {
			if r.URL.Path == "/stream" {
				return reply{body: "data"}
			}
			return small(n-1, r)
		}))
		resp, err := c.Get("http://api.example/stream")
		require.NoError(t, err)
		prompt(t, c, api, time.Second)
		resp.Body.Close()
		for range 5 {
			prompt(t, c, api, time.Second)
		}
	})
}

// The first answer takes longer than the others wait for it: the calls that left meanwhile are counted once.
func TestASlowFirstAnswerIsNotCountedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := client(t, newServer(func(n int, r *http.Request) reply {
			a := small(n, r)
			if n == 1 {
				a.after = 5 * time.Second
			}
			return a
		}))
		flood(t, c, 2, api)
		for range 5 {
			prompt(t, c, api, time.Second)
		}
	})
}

func TestAPermitThatIsDoneIsNotUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tr := client(t, newServer(small))
		prompt(t, c, api, time.Second)
		p, err := tr.Acquire(t.Context(), Call{Key: "api.example"})
		require.NoError(t, err)
		p.Done()
		prompt(t, c, api, time.Second)
	})
}

func TestACallThatHangsHoldsUpNobodyForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := client(t, newServer(func(n int, r *http.Request) reply {
			a := small(n, r)
			if r.URL.Path == "/poll" {
				a.after = time.Hour
			}
			return a
		}))
		prompt(t, c, api, time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		go do(c, ctx, http.MethodGet, "http://api.example/poll", "")
		time.Sleep(time.Second)
		prompt(t, c, api, 3*time.Second)
		cancel()
	})
}

// Resources of one host, called in turn: what was counted before they were told apart is known to each.
func TestResourcesInTurnHoldUpNobody(t *testing.T) {
	for name, paths := range map[string][]string{
		"search first": {"/search", "/core", "/search", "/core", "/search"},
		"core first":   {"/core", "/search", "/search", "/search", "/core"},
		"core alone":   {"/core", "/core", "/core", "/search", "/search"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				used := map[string]int{}
				c, _ := client(t, newServer(func(_ int, r *http.Request) reply {
					limit, window := 5000, time.Hour
					if r.URL.Path == "/search" {
						limit, window = 10, time.Minute
					}
					used[r.URL.Path]++
					return reply{after: 50 * time.Millisecond, header: fields("X-RateLimit-Limit", itoa(limit), "X-RateLimit-Resource", r.URL.Path[1:],
						"X-RateLimit-Remaining", itoa(limit-used[r.URL.Path]), "X-RateLimit-Reset", itoa(int(epoch.Add(window).Unix())))}
				}))
				for _, p := range paths {
					prompt(t, c, "http://api.example"+p, time.Second)
				}
			})
		})
	}
}

// A limit that no call fits into is asked about again: while nothing is sent, nobody tells that it has changed.
func TestALimitTooSmallIsAskedAboutAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := client(t, newServer(func(n int, _ *http.Request) reply {
			limit := 100_000
			if n == 1 {
				limit = 5
			}
			return reply{header: fields("X-RateLimit-Limit-Tokens", itoa(limit), "X-RateLimit-Remaining-Tokens", itoa(limit), "X-RateLimit-Reset-Tokens", "1s")}
		}), WithCost(func(*http.Request) budget.Cost { return tokens(10) }))
		prompt(t, c, api, time.Second)
		_, _, err := get(c, api)
		assert.ErrorIs(t, err, ErrCostTooLarge)
		time.Sleep(2 * time.Minute)
		flood(t, c, 5, api)
	})
}

func TestTheLeastOfSeveralCapsIsKeptAndForgottenInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told atomic.Bool
		told.Store(true)
		c, tr := client(t, newServer(func(int, *http.Request) reply {
			r := reply{after: time.Second}
			if told.Load() {
				r.header = fields("RateLimit-Policy", `"user";q=2;qu="concurrent-requests", "org";q=50;qu="concurrent-requests"`)
			}
			return r
		}))
		cap := func() int { s, _ := tr.State("api.example"); return s.MaxInFlight }
		flood(t, c, 1, api)
		assert.Equal(t, 2, cap())
		told.Store(false)
		flood(t, c, silence, api)
		assert.Equal(t, 2, cap())
		flood(t, c, 1, api)
		assert.Zero(t, cap())
	})
}

// A place that is taken is no quota that is used up: a plain 403 stays what it is.
func TestAForbiddenCallIsNoRefusalForAPlaceThatIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(func(int, *http.Request) reply {
			return reply{status: http.StatusForbidden, header: fields("RateLimit-Policy", `"c";q=1;qu="concurrent-requests"`, "RateLimit", `"c";r=0`)}
		})
		c, _ := client(t, s)
		_, _, err := get(c, api)
		require.NoError(t, err)
		assert.Equal(t, 1, s.count())
	})
}

func TestWeightsInRequestsCountAfterTheFirstAnswerToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tr := client(t, newServer(always), WithPolicies(budget.PerMinute(100).Using(budget.SlidingLog)),
			WithCost(func(*http.Request) budget.Cost { return budget.Cost{budget.Requests: 5} }))
		for range 4 {
			prompt(t, c, api, time.Second)
		}
		s, _ := tr.State("api.example")
		assert.Equal(t, 20.0, s.Budgets[0].Used)
	})
}

// A cost function that panics as a call is about to leave: nothing was sent, and nothing stays spent.
func TestAPanicBeforeTheSendingGivesAllBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var panics atomic.Bool
		s := newServer(always)
		c, tr := client(t, s, WithPolicies(budget.PerMinute(1000).Of(budget.Tokens).WithBurst(1000)), WithCost(func(*http.Request) budget.Cost {
			if panics.Load() {
				panic("of the user")
			}
			return tokens(1000)
		}))
		prompt(t, c, api, time.Second)
		time.AfterFunc(time.Second, func() { panics.Store(true) })
		assert.Panics(t, func() { get(c, api) })
		assert.Equal(t, 1, s.count())
		state, _ := tr.State("api.example")
		assert.Zero(t, state.InFlight)
		time.Sleep(time.Minute)
		assert.Equal(t, 1000.0, budgetOf(t, tr, "api.example", "").Available)
	})
}

// Foresight is for those who will be charged: streams that cost no tokens, and one that stays open for hours, hold nobody up.
func TestForesightForgetsWhoCostsNothingAndWhoStays(t *testing.T) {
	inBubble(t, []Option{WithPolicies(budget.PerMinute(1000).Of(budget.Tokens).WithBurst(1000))}, func(t *testing.T, tr *Transport) {
		use := func(n float64) {
			p, _ := take(t, tr, Call{Cost: tokens(n)})
			time.Sleep(time.Second)
			p.Settle(tokens(n))
			p.Done()
		}
		for range 40 {
			use(100)
		}
		for range 20 {
			take(t, tr, Call{Cost: tokens(0)})
		}
		time.Sleep(time.Minute)
		start := time.Now()
		use(100)
		assert.Equal(t, time.Second, time.Since(start), "free ones are not counted")
		for range 40 {
			use(600)
		}
		take(t, tr, Call{Cost: tokens(600)}) // and never ends
		time.Sleep(time.Minute)
		start = time.Now()
		use(600)
		assert.LessOrEqual(t, time.Since(start), time.Minute, "nor is one that stays")
	})
}

// SetPolicies while the policy function is at work: what that says is out of date, and it is asked again.
func TestSetPoliciesWhileThePolicyFunctionIsAtWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var limit atomic.Int64
		limit.Store(10)
		c, tr := client(t, newServer(always), WithPolicyFunc(func(string, *http.Request) ([]budget.Policy, error) {
			n := float64(limit.Load())
			time.Sleep(time.Second)
			return []budget.Policy{budget.PerMinute(n)}, nil
		}))
		time.AfterFunc(time.Second/2, func() {
			limit.Store(1000)
			assert.NoError(t, tr.SetPolicies())
		})
		prompt(t, c, api, 3*time.Second)
		assert.Equal(t, 1000.0, budgetOf(t, tr, "api.example", "").Limit)
	})
}

// An answer that was forgotten does not keep its lane for ever.
func TestALaneWithAForgottenAnswerIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, tr := client(t, newServer(func(int, *http.Request) reply { return reply{body: "never read"} }))
		resp, err := tr.RoundTrip(newRequest(t))
		require.NoError(t, err)
		assert.NotNil(t, resp)
		time.Sleep(24 * time.Hour)
		assert.Empty(t, tr.Snapshot())
	})
}

func TestABodyWhoseCloseFailsBadlyGivesItsSlotBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, tr := client(t, roundTripper(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: panicsAtClose{}, Request: r}, nil
		}), WithMaxInFlight(1))
		resp, err := tr.RoundTrip(newRequest(t))
		require.NoError(t, err)
		assert.Panics(t, func() { resp.Body.Close() })
		s, _ := tr.State("api.example")
		assert.Zero(t, s.InFlight)
	})
}

type panicsAtClose struct{}

func (panicsAtClose) Read([]byte) (int, error) { return 0, nil }
func (panicsAtClose) Close() error             { panic("of the base") }

func newRequest(t *testing.T) *http.Request {
	req, err := http.NewRequest(http.MethodGet, api, nil)
	require.NoError(t, err)
	return req
}

// A second resource of the host is met in mid-run, with many calls of both waiting: each goes on within its own limit, and none leaves without one.
func TestASecondResourceInMidRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := map[string]int{"/a": 10, "/b": 20}
		used, refused := map[string]int{}, 0
		var window time.Time
		c, _ := client(t, newServer(func(_ int, r *http.Request) reply {
			if now := time.Now().Truncate(10 * time.Second); now != window {
				window = now
				clear(used)
			}
			p := r.URL.Path
			h := fields("X-RateLimit-Limit", itoa(limits[p]), "X-RateLimit-Resource", p[1:], "X-RateLimit-Reset", itoa(int(window.Add(10*time.Second).Unix())))
			if used[p] == limits[p] {
				refused++
				h["X-RateLimit-Remaining"] = "0"
				return reply{status: http.StatusTooManyRequests, header: h, after: 20 * time.Millisecond}
			}
			used[p]++
			h["X-RateLimit-Remaining"] = itoa(limits[p] - used[p])
			return reply{header: h, after: 50 * time.Millisecond}
		}))
		var done sync.WaitGroup
		for p := range limits {
			done.Go(func() {
				if p == "/b" {
					time.Sleep(5 * time.Second)
				}
				flood(t, c, 60, "http://api.example"+p)
			})
		}
		done.Wait()
		assert.LessOrEqual(t, refused, 3)
		assert.LessOrEqual(t, time.Since(epoch), 100*time.Second, "/a takes six windows, and what was under way when /b was met is charged to both")
	})
}

// A permit may be settled before it is done: it is under way until then, and not after.
func TestAPermitMayBeSettledBeforeItIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tr := client(t, newServer(func(int, *http.Request) reply {
			return reply{header: fields("X-RateLimit-Limit-Tokens", "1000", "X-RateLimit-Remaining-Tokens", "1000", "X-RateLimit-Reset-Tokens", "1h0m0s")}
		}))
		prompt(t, c, api, time.Second)
		for range 10 {
			p, err := tr.Acquire(t.Context(), Call{Key: "api.example", Cost: tokens(400), MaxWait: NoWait})
			require.NoError(t, err)
			p.Settle(tokens(40))
			p.Done()
		}
		assert.Equal(t, 600.0, budgetOf(t, tr, "api.example", "").Available)
	})
}
