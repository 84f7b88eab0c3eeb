package throttle

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"github.com/stretchr/testify/require"
)

// noop is a base that answers at once, with what a typical API sends: twenty headers, six of them about limits.
type noop struct{ header http.Header }

func newNoop() *noop {
	h := http.Header{}
	for k, v := range map[string]string{
		"X-Ratelimit-Limit-Requests": "10000", "X-Ratelimit-Remaining-Requests": "9999", "X-Ratelimit-Reset-Requests": "6ms",
		"X-Ratelimit-Limit-Tokens": "200000000", "X-Ratelimit-Remaining-Tokens": "199999000", "X-Ratelimit-Reset-Tokens": "20ms",
		"Date": "Mon, 02 Jan 2023 15:04:05 GMT", "Content-Type": "application/json", "Content-Length": "2", "Connection": "keep-alive",
		"Cache-Control": "no-cache", "Strict-Transport-Security": "max-age=31536000", "X-Request-Id": "req_1", "Server": "cloudflare",
		"Cf-Ray": "1-FRA", "Cf-Cache-Status": "DYNAMIC", "Alt-Svc": `h3=":443"`, "Vary": "Origin", "Openai-Version": "2020-10-01",
		"Openai-Processing-Ms": "12",
	} {
		h.Set(k, v)
	}
	return &noop{h}
}

// scarce is likewise, with less than half of everything left: each answer is read in full.
func scarce() *noop {
	n := newNoop()
	n.header.Set("X-Ratelimit-Remaining-Requests", "4999")
	n.header.Set("X-Ratelimit-Remaining-Tokens", "99999000")
	return n
}

func (n *noop) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		r.Body.Close()
	}
	return &http.Response{StatusCode: http.StatusOK, Header: n.header, Body: io.NopCloser(ok{}), ContentLength: 2, Request: r}, nil
}

// ok is an endless stream of nothing: the end of a body, at once.
type ok struct{}

func (ok) Read([]byte) (int, error) { return 0, io.EOF }

func benchmarkCalls(b *testing.B, rt http.RoundTripper, request func(i int) *http.Request) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		resp, err := rt.RoundTrip(request(i))
		if err != nil {
			b.Fatal(err)
		}
		resp.Body.Close()
	}
}

func newGet(b *testing.B, url string) *http.Request {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	require.NoError(b, err)
	return req
}

func newPost(b *testing.B) *http.Request {
	payload := bytes.Repeat([]byte("x"), 2<<10)
	req, err := http.NewRequest(http.MethodPost, api, bytes.NewReader(payload))
	require.NoError(b, err)
	return req
}

func benchTransport(b *testing.B, base *noop) *Transport {
	tr, err := NewTransport(base)
	require.NoError(b, err)
	b.Cleanup(func() { tr.Close() })
	return tr
}

// peer is go-retryablehttp as it comes, for comparison: it counts nothing and reads no header of a success.
func peer() http.RoundTripper {
	c := retryablehttp.NewClient()
	c.Logger = nil
	c.HTTPClient.Transport = newNoop()
	return &retryablehttp.RoundTripper{Client: c}
}

func BenchmarkGet(b *testing.B) {
	req := newGet(b, api)
	request := func(int) *http.Request { return req }
	b.Run("base", func(b *testing.B) { benchmarkCalls(b, newNoop(), request) })
	b.Run("throttle", func(b *testing.B) { benchmarkCalls(b, benchTransport(b, newNoop()), request) })
	b.Run("throttle, each answer read", func(b *testing.B) { benchmarkCalls(b, benchTransport(b, scarce()), request) })
	b.Run("peer go-retryablehttp", func(b *testing.B) { benchmarkCalls(b, peer(), request) })
}

func BenchmarkPost2KB(b *testing.B) {
	req := newPost(b)
	request := func(int) *http.Request { return req }
	b.Run("base", func(b *testing.B) { benchmarkCalls(b, newNoop(), request) })
	b.Run("throttle", func(b *testing.B) { benchmarkCalls(b, benchTransport(b, newNoop()), request) })
	b.Run("peer go-retryablehttp", func(b *testing.B) {
		rt := peer()
		benchmarkCalls(b, rt, func(int) *http.Request {
			req.Body, _ = req.GetBody() // it reads the caller's own
			return req
		})
	})
}

// A context that can end must be watched while the body is open.
func BenchmarkGetUnderDeadline(b *testing.B) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	req := newGet(b, api).WithContext(ctx)
	benchmarkCalls(b, benchTransport(b, newNoop()), func(int) *http.Request { return req })
}

func BenchmarkGet1000Hosts(b *testing.B) {
	var reqs [1000]*http.Request
	for i := range reqs {
		reqs[i] = newGet(b, fmt.Sprintf("http://h%d.example/v1", i))
	}
	request := func(i int) *http.Request { return reqs[i%len(reqs)] }
	b.Run("base", func(b *testing.B) { benchmarkCalls(b, newNoop(), request) })
	b.Run("throttle", func(b *testing.B) { benchmarkCalls(b, benchTransport(b, newNoop()), request) })
	b.Run("throttle, each answer read", func(b *testing.B) { benchmarkCalls(b, benchTransport(b, scarce()), request) })
}

// Run with -cpu 1,2: two cores must not be slower than one.
func BenchmarkGetParallel(b *testing.B) {
	tr := benchTransport(b, newNoop())
	var hosts atomic.Int32
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		req := newGet(b, fmt.Sprintf("http://h%d.example/v1", hosts.Add(1)))
		for pb.Next() {
			resp, err := tr.RoundTrip(req)
			if err != nil {
				b.Error(err)
				return
			}
			resp.Body.Close()
		}
	})
}

// What a program with 64 calls at once gets through over loopback, with nothing that binds: in turns with a bare client, so that a slow moment
// of the machine meets both. Goal: 0.97 of its requests per second.
func BenchmarkLoopback64(b *testing.B) {
	s := listen(b, func(_ int, w http.ResponseWriter, _ *http.Request) { w.Write([]byte("{}")) })
	s.base.MaxIdleConnsPerHost = 64
	tr, err := NewTransport(s.base)
	require.NoError(b, err)
	defer tr.Close()
	bare, ours := &http.Client{Transport: s.base}, &http.Client{Transport: tr}
	turn(b, bare, s.URL) // opens the connections
	turn(b, ours, s.URL) // and makes the first contact
	var bareTime, ourTime time.Duration
	for b.Loop() {
		bareTime += turn(b, bare, s.URL)
		ourTime += turn(b, ours, s.URL)
	}
	b.ReportMetric(float64(bareTime)/float64(ourTime), "of-bare")
	b.ReportMetric(float64(b.N)*turnCalls/ourTime.Seconds(), "requests/s")
}

// turnCalls is how many calls a turn makes, 64 at once.
const turnCalls = 6400

// turn is how long that takes.
func turn(b *testing.B, c *http.Client, url string) time.Duration {
	var left atomic.Int64
	left.Store(turnCalls)
	start := time.Now()
	var callers sync.WaitGroup
	for range 64 {
		callers.Go(func() {
			for left.Add(-1) >= 0 {
				if _, _, err := get(c, url); err != nil {
					b.Error(err)
				}
			}
		})
	}
	callers.Wait()
	return time.Since(start)
}
