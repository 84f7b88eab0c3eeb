package throttle

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// hit is a request that reached the fake server.
type hit struct {
	at   time.Duration // since the server was made
	req  *http.Request
	body string
}

// server is a fake base: it answers by a script, in virtual time.
type server struct {
	latency time.Duration
	reply   func(n int, r *http.Request) reply // n counts from 1

	start time.Time
	mu    sync.Mutex
	hits  []hit
}

// reply is one scripted answer.
type reply struct {
	status int
	header map[string]string
	body   string
	err    error
	after  time.Duration // besides the server's latency
}

func newServer(f func(n int, r *http.Request) reply) *server {
	return &server{reply: f, start: time.Now()}
}

// always answers 200.
func always(int, *http.Request) reply { return reply{} }

// script answers with each reply in turn, and 200 after the last.
func script(replies ...reply) func(int, *http.Request) reply {
	return func(n int, _ *http.Request) reply {
		if n <= len(replies) {
			return replies[n-1]
		}
		return reply{}
	}
}

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	body := ""
	if r.Body != nil {
		b, _ := io.ReadAll(r.Body)
		r.Body.Close()
		body = string(b)
	}
	s.mu.Lock()
	s.hits = append(s.hits, hit{time.Since(s.start), r, body})
	a := s.reply(len(s.hits), r) // under the lock: scripts need none of their own
	s.mu.Unlock()
	if err := sleep(r.Context(), s.latency+a.after); err != nil {
		return nil, err
	}
	if a.err != nil {
		return nil, a.err
	}
	if a.status == 0 {
		a.status = http.StatusOK
	}
	h := http.Header{}
	for k, v := range a.header {
		h.Set(k, v)
	}
	return &http.Response{StatusCode: a.status, Header: h, Body: io.NopCloser(strings.NewReader(a.body)), ContentLength: int64(len(a.body)), Request: r}, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// times is when the hits arrived.
func (s *server) times() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := make([]time.Duration, len(s.hits))
	for i, h := range s.hits {
		at[i] = h.at
	}
	return at
}

func (s *server) count() int { return len(s.times()) }

// client is a client over a transport over base.
func client(t *testing.T, base http.RoundTripper, opts ...Option) (*http.Client, *Transport) {
	t.Helper()
	tr, err := NewTransport(base, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { tr.Close() })
	return &http.Client{Transport: tr}, tr
}

// get makes one call and reads its answer to the end.
func get(c *http.Client, url string) (*http.Response, string, error) {
	return do(c, context.Background(), http.MethodGet, url, "")
}

func do(c *http.Client, ctx context.Context, method, url, body string) (*http.Response, string, error) {
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, r)
	if err != nil {
		return nil, "", err
	}
	resp, err := c.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, string(b), err
}

// flood makes n calls at once and waits for all of them; it fails the test if one fails.
func flood(t *testing.T, c *http.Client, n int, url string) {
	t.Helper()
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			resp, _, err := get(c, url)
			if err != nil || resp.StatusCode >= 400 {
				t.Errorf("call failed: %v %v", resp, err)
			}
		})
	}
	wg.Wait()
}

// seconds is d in whole seconds, rounded up, as servers write it.
func seconds(d time.Duration) string { return itoa(int((d + time.Second - 1) / time.Second)) }

func itoa(n int) string { return strconv.Itoa(n) }
