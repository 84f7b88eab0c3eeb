package throttle

import (
	"context"
	"io"
	"net/http"
	"sync"
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
