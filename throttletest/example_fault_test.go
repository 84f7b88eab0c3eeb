package throttletest_test

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/seed-18ca0a92/throttle/headers"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

// status makes a call and returns what it was answered.
func status(up *throttletest.Upstream, url string) int {
	resp, err := (&http.Client{Transport: up}).Get(url)
	if err != nil {
		fmt.Println(err)
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

// Three refusals without a reason, then calls pass.
func ExampleStatuses() {
	up := throttletest.NewUpstream(throttletest.WithFaults(throttletest.Statuses(429, 429, 503)))
	for range 4 {
		fmt.Println(status(up, "http://api.example/"))
	}
	// Output:
	// 429
	// 429
	// 503
	// 200
}

// What is refused by GitHub for being too quick is a 403, says so in its body, and tells when to come back.
func ExampleFault() {
	secondary := throttletest.Fault{
		Status: http.StatusForbidden,
		Header: http.Header{"Retry-After": {"60"}},
		Body:   []byte(`{"message":"You have exceeded a secondary rate limit."}`),
	}
	up := throttletest.NewUpstream(throttletest.WithFaults(throttletest.FirstCalls(1, secondary)))
	fmt.Println(status(up, "http://api.example/"), status(up, "http://api.example/"))
	// Output: 403 200
}

// One host whose search has a limit of its own.
func ExampleWithResource() {
	search := func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/search/") }
	up := throttletest.NewUpstream(
		throttletest.WithLimits(throttletest.FixedWindow(5000, time.Hour).Named("core")),
		throttletest.WithResource("search", search, throttletest.OpenedWindow(1, time.Minute)),
		throttletest.WithDialect(headers.GitHub),
	)
	for _, path := range []string{"/search/code", "/search/code", "/user"} {
		fmt.Println(path, status(up, "http://api.example"+path))
	}
	// Output:
	// /search/code 200
	// /search/code 429
	// /user 200
}

// Requests and tokens together, beside somebody who draws ten requests a second.
func ExampleWithForeign() {
	up := throttletest.NewUpstream(
		throttletest.WithLimits(
			throttletest.TokenBucket(600, time.Minute, 0),
			throttletest.TokenBucket(90_000, time.Minute, 0).Of("tokens"),
		),
		throttletest.WithForeign(throttletest.Foreign{Gap: throttletest.Exponential(100 * time.Millisecond)}),
		throttletest.WithSeed(1),
	)
	fmt.Println(status(up, "http://api.example/"), up.Stats().Admitted)
	// Output: 200 1
}
