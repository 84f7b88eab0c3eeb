package throttle

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/backoff"
)

// plenty announces a limit that never binds, so that the refusals of a test are not taken for those of a limit that is to be worked out.
func plenty(h http.Header) {
	h.Set("X-RateLimit-Limit", "1000000")
	h.Set("X-RateLimit-Remaining", "999999")
	h.Set("X-RateLimit-Reset", "3600")
}

func TestRTY03NoConnectionIsLostToARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pipes(t, func(n int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After-Ms", "1")
			plenty(w.Header())
			w.WriteHeader([]int{200, 429, 503}[n%3])
			w.Write(make([]byte, 2<<10))
		})
		cl, _ := client(t, s.base, WithMaxInFlight(10), WithMaxAttempts(1000))
		flood(t, cl, 1000, s.URL)
		_, opened, most := s.seen()
		assert.LessOrEqual(t, most, 10)
		assert.LessOrEqual(t, opened, 10, "the same few connections are used over and over")
	})
}

func TestRTY03RefusedToTheEndKeepsItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pipes(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After-Ms", "1")
			w.WriteHeader(429)
			w.Write(make([]byte, 2<<10))
		})
		cl, _ := client(t, s.base, WithMaxAttempts(4))
		for range 100 {
			resp, body, err := get(cl, s.URL)
			require.NoError(t, err)
			assert.Equal(t, 429, resp.StatusCode)
			assert.Len(t, body, 2<<10)
		}
		hits, opened, _ := s.seen()
		assert.Equal(t, 400, hits)
		assert.Equal(t, 1, opened)
	})
}

func TestRTY04BodiesUpToTheDrainLimitKeepTheirConnection(t *testing.T) {
	for size, connections := range map[int]int{0: 1, 1 << 10: 1, 4097: 1, 60 << 10: 1, 250 << 10: 1, 100 * mib: 11} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				chunk := make([]byte, 16<<10)
				var written atomic.Int64
				s := pipes(t, func(n int, w http.ResponseWriter, _ *http.Request) {
					if n == 11 {
						return
					}
					w.Header().Set("Retry-After-Ms", "1")
					w.WriteHeader(429)
					for left := size; left > 0; left -= len(chunk) {
						k, err := w.Write(chunk[:min(len(chunk), left)])
						written.Add(int64(k))
						if err != nil {
							return
						}
					}
				})
				cl, _ := client(t, s.base, WithMaxAttempts(11))
				resp, _, err := get(cl, s.URL)
				require.NoError(t, err)
				assert.Equal(t, 200, resp.StatusCode)
				_, opened, _ := s.seen()
				assert.Equal(t, connections, opened)
				assert.LessOrEqual(t, written.Load(), int64(10*mib), "no more than 1 MiB is read of each")
			})
		})
	}
}

// trickle is a body of one byte a second.
func trickle(r *http.Request) io.ReadCloser {
	return newSlowReader(r.Context(), 3600, time.Second)
}

func TestRTY04SlowBodyDoesNotLengthenTheWait(t *testing.T) {
	for name, c := range map[string]struct {
		header http.Header
		least  time.Duration
		most   time.Duration
	}{
		"named wait":  {http.Header{"Retry-After": {"2"}}, 2 * time.Second, 2200 * time.Millisecond},
		"own backoff": {http.Header{}, 2 * time.Second, 2200 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var at []time.Time
				base := roundTripper(func(r *http.Request) (*http.Response, error) {
					at = append(at, time.Now())
					if len(at) > 1 {
						return &http.Response{StatusCode: 200, Body: http.NoBody, Request: r}, nil
					}
					return &http.Response{StatusCode: 429, Header: c.header, ContentLength: -1, Body: trickle(r), Request: r}, nil
				})
				cl, _ := client(t, base, WithBackoff(backoff.Policy{Initial: 2 * time.Second, Jitter: backoff.None}))
				_, _, err := get(cl, api)
				require.NoError(t, err)
				require.Len(t, at, 2)
				assert.GreaterOrEqual(t, at[1].Sub(at[0]), c.least)
				assert.LessOrEqual(t, at[1].Sub(at[0]), c.most)
			})
		})
	}
}

// A thousand refused attempts over loopback go over the same few connections.
func TestThousandRefusalsKeepTheirConnections(t *testing.T) {
	s := listen(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(429)
		w.Write(make([]byte, 8<<10))
	})
	s.base.MaxIdleConnsPerHost = 4
	cl, _ := client(t, s.base)
	ctx := NewContext(t.Context(), Call{Bypass: true}) // what the refusals teach is not the point here
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 250 {
				resp, body, err := do(cl, ctx, http.MethodGet, s.URL, "")
				if assert.NoError(t, err) {
					assert.Equal(t, 429, resp.StatusCode)
					assert.Len(t, body, 8<<10)
				}
			}
		})
	}
	wg.Wait()
	hits, opened, _ := s.seen()
	assert.Equal(t, 1000, hits)
	assert.LessOrEqual(t, opened, 10)
}
