package throttletest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/headers"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

// On a real socket: the upstream is an http.Handler.
func ExampleUpstream_ServeHTTP() {
	up := throttletest.NewUpstream(
		throttletest.WithLimits(throttletest.FixedWindow(2, 24*time.Hour)),
		throttletest.WithDialect(headers.OpenAI),
	)
	server := httptest.NewServer(up)
	defer server.Close()
	for range 3 {
		body := `{"max_tokens":5,"messages":[{"role":"user","content":"hello"}]}`
		resp, err := http.Post(server.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			fmt.Println(err)
			return
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		fmt.Println(resp.StatusCode, "remaining", resp.Header.Get("X-RateLimit-Remaining-Requests"))
	}
	http.DefaultClient.CloseIdleConnections()
	// Output:
	// 200 remaining 1
	// 200 remaining 0
	// 429 remaining 0
}

// Without sockets: the upstream is an http.RoundTripper. In a testing/synctest bubble, the day passes at once.
func ExampleUpstream_RoundTrip() {
	up := throttletest.NewUpstream(
		throttletest.WithLimits(throttletest.SlidingLog(1, 24*time.Hour)),
		throttletest.WithLatency(throttletest.Latency{Network: time.Millisecond}),
	)
	client := &http.Client{Transport: up}
	for range 2 {
		resp, err := client.Get("http://api.example/")
		if err != nil {
			fmt.Println(err)
			return
		}
		resp.Body.Close()
		fmt.Println(resp.Status)
	}
	fmt.Println(up.Stats().Refused, "refused")
	// Output:
	// 200 OK
	// 429 Too Many Requests
	// 1 refused
}

func TestADayInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := throttletest.NewUpstream(throttletest.WithLimits(throttletest.SlidingLog(1, 24*time.Hour)))
		client := &http.Client{Transport: up}
		for range 3 {
			resp, err := client.Get("http://api.example/")
			require.NoError(t, err)
			resp.Body.Close()
			time.Sleep(24 * time.Hour)
		}
		assert.Zero(t, up.Stats().Refused)
	})
}

// The least time in which a job can be done tells how good a client is.
func ExampleUpstream_Bound() {
	up := throttletest.NewUpstream(throttletest.WithLimits(throttletest.TokenBucket(10, time.Second, 5)))
	least, ok := up.Bound(throttletest.Job{Calls: 105, Workers: 16})
	fmt.Println(least, ok)
	// Output: 10s true
}
