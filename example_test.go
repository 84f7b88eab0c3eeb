package throttle_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/backoff"
	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

// newClient is a client of an upstream in the same process, in the place of one on the network.
func newClient(up http.RoundTripper, opts ...throttle.Option) (*http.Client, *throttle.Transport) {
	t, err := throttle.NewTransport(up, opts...)
	if err != nil {
		log.Fatal(err)
	}
	return &http.Client{Transport: t}, t
}

// get is a call whose answer does not matter.
func get(c *http.Client, url string) error {
	resp, err := c.Get(url)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func Example() {
	server := httptest.NewServer(throttletest.NewUpstream()) // in the place of an API
	defer server.Close()
	client, err := throttle.NewClient(
		throttle.WithPolicies(budget.PerMinute(500)),
		throttle.WithMaxInFlight(32),
	)
	if err != nil {
		log.Fatal(err)
	}
	defer client.CloseIdleConnections()
	resp, err := client.Get(server.URL + "/v1/items")
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status)
	// Output: 200 OK
}

// Nothing is declared: the server's headers are the limit. Without a turn to wait for, ten of the fifteen calls would be refused.
func Example_announced() {
	up := throttletest.NewUpstream(
		throttletest.WithLimits(throttletest.FixedWindow(5, 200*time.Millisecond)),
		throttletest.WithDialect(headers.XRateLimit),
	)
	client, _ := newClient(up)
	for range 15 {
		if err := get(client, "http://api.example/"); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(up.Stats().Admitted, "admitted,", up.Stats().Refused, "refused")
	// Output: 15 admitted, 0 refused
}

// The ways to declare limits. All of them must agree before a call leaves.
func ExampleWithPolicies() {
	_, err := throttle.NewClient(
		throttle.WithPolicies(
			budget.PerMinute(500),
			budget.PerDay(10_000),
			budget.PerMinute(200_000).Of(budget.Tokens),
			budget.PerSecond(10).WithBurst(20),
			budget.PerHour(1000).Using(budget.FixedWindow),
		),
		throttle.WithKey(throttle.ByHostAndCredential),
	)
	fmt.Println(err)
	_, err = throttle.NewClient(throttle.WithPolicies(budget.PerMinute(0)))
	fmt.Println(err)
	// Output:
	// <nil>
	// throttle: WithPolicies: budget: policy "0/minute": Limit is 0: use a number above 0 and at most 1e+15 (to stop a key, hold it; for no limit, declare none)
}

// Tiers in a JSON file: a policy is read from its text form.
func ExampleWithPolicyFunc() {
	var tiers map[string][]budget.Policy
	if err := json.Unmarshal([]byte(`{"free": ["2/minute", "200/day"], "pro": ["500/minute burst 50"]}`), &tiers); err != nil {
		log.Fatal(err)
	}
	client, _ := newClient(throttletest.NewUpstream(),
		throttle.WithKey(func(req *http.Request) string { return req.Header.Get("X-Tier") }),
		throttle.WithPolicyFunc(func(key string, _ *http.Request) ([]budget.Policy, error) {
			if p, ok := tiers[key]; ok {
				return p, nil
			}
			return nil, errors.New("no such tier")
		}),
		throttle.WithMaxWait(throttle.NoWait),
	)
	for _, tier := range []string{"free", "free", "free", "pro", "gold"} {
		req, err := http.NewRequest(http.MethodGet, "http://api.example/", nil)
		if err != nil {
			log.Fatal(err)
		}
		req.Header.Set("X-Tier", tier)
		resp, err := client.Do(req)
		if err != nil {
			var limit *throttle.LimitError
			fmt.Println(tier, errors.As(err, &limit), limit.Err)
			continue
		}
		resp.Body.Close()
		fmt.Println(tier, resp.Status)
	}
	// Output:
	// free 200 OK
	// free 200 OK
	// free true the wait is longer than the max wait
	// pro 200 OK
	// gold true no such tier
}

// A part of an API with a limit of its own, beside that of the whole.
func ExampleWithRoute() {
	client, _ := newClient(throttletest.NewUpstream(),
		throttle.WithPolicies(budget.PerMinute(500)),
		throttle.WithRoute("POST api.example/v1/uploads/", budget.PerHour(1)),
		throttle.WithMaxWait(time.Second),
	)
	for range 2 {
		resp, err := client.Post("http://api.example/v1/uploads/picture", "text/plain", strings.NewReader("picture"))
		var limit *throttle.LimitError
		if errors.As(err, &limit) {
			fmt.Println(limit.Budget, "needs", limit.Wait.Round(time.Hour))
			continue
		}
		resp.Body.Close()
		fmt.Println(resp.Status)
	}
	fmt.Println(get(client, "http://api.example/v1/items"))
	// Output:
	// 200 OK
	// POST api.example/v1/uploads/ needs 1h0m0s
	// <nil>
}

// A call that was not sent says why, and when it could have been.
func ExampleLimitError() {
	client, _ := newClient(throttletest.NewUpstream(), throttle.WithPolicies(budget.PerMinute(1)), throttle.WithMaxWait(10*time.Second))
	for range 2 {
		err := get(client, "http://api.example/")
		var limit *throttle.LimitError
		switch {
		case errors.As(err, &limit) && errors.Is(err, throttle.ErrMaxWait):
			fmt.Println(limit.Key, "is busy for", limit.Wait.Round(time.Minute), "and", limit.Cap, "are allowed")
		case errors.As(err, &limit): // another reason of ours: nothing was sent either
			fmt.Println(limit)
		case err != nil: // it was sent, or tried
			fmt.Println(err)
		default:
			fmt.Println("answered")
		}
	}
	// Output:
	// answered
	// api.example is busy for 1m0s and 10s are allowed
}

// Work that is not HTTP draws on budgets too: of its key, which requests may have as well.
func ExampleTransport_Acquire() {
	_, transport := newClient(nil, throttle.WithPolicies(budget.PerSecond(100), budget.PerMinute(1000).Of("rows")))
	permit, err := transport.Acquire(context.Background(), throttle.Call{Key: "warehouse", Cost: budget.Cost{"rows": 400}})
	if err != nil {
		log.Fatal(err)
	}
	defer permit.Done()
	permit.Settle(budget.Cost{"rows": 150}) // as it turned out
	state, _ := transport.State("warehouse")
	for _, b := range state.Budgets {
		fmt.Printf("%s: %g of %g\n", b.Unit, b.Used, b.Limit)
	}
	// Output:
	// requests: 1 of 100
	// rows: 150 of 1000
}

// What a dashboard shows: the state of every key, as JSON. Fields that are unknown are left out.
func ExampleTransport_Snapshot() {
	client, transport := newClient(throttletest.NewUpstream(), throttle.WithPolicies(budget.PerMinute(500)), throttle.WithMaxInFlight(32))
	if err := get(client, "http://api.example/"); err != nil {
		log.Fatal(err)
	}
	states := transport.Snapshot()
	states[0].Budgets[0].Next = time.Date(2026, 1, 1, 0, 1, 0, 0, time.UTC) // which is another one each time
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	if err := out.Encode(states); err != nil {
		log.Fatal(err)
	}
	// Output:
	// [
	//   {
	//     "key": "api.example",
	//     "budgets": [
	//       {
	//         "unit": "requests",
	//         "source": "declared",
	//         "limit": 500,
	//         "window": 60,
	//         "used": 1,
	//         "available": 499,
	//         "next": "2026-01-01T00:01:00Z"
	//       }
	//     ],
	//     "waiting": 0,
	//     "in_flight": 0,
	//     "max_in_flight": 32
	//   }
	// ]
}

// Events as lines of JSON.
func ExampleWithObserver() {
	const roughly = 200 * time.Millisecond
	up := throttletest.NewUpstream(throttletest.WithFaults(throttletest.Statuses(http.StatusBadGateway)))
	client, _ := newClient(up,
		throttle.WithBackoff(backoff.Policy{Initial: roughly, Jitter: backoff.None}),
		throttle.WithObserver(throttle.ObserverFunc(func(_ context.Context, e throttle.Event) {
			e.Duration, e.Result.BackedOff = e.Duration.Round(roughly), e.Result.BackedOff.Round(roughly) // so that each run prints the same
			line, err := json.Marshal(e)
			if err != nil {
				log.Print(err)
			}
			fmt.Println(string(line))
		})),
	)
	if err := get(client, "http://api.example/"); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"kind":"send","key":"api.example","attempt":1,"status":502}
	// {"kind":"retry","key":"api.example","cause":"backoff","duration":0.2,"attempt":1,"status":502}
	// {"kind":"send","key":"api.example","attempt":2,"status":200}
	// {"kind":"done","key":"api.example","attempt":2,"status":200,"result":{"key":"api.example","attempts":2,"waited":0,"held":0,"backed_off":0.2,"stop":"finished"}}
}

// A first look, before the transport is trusted: all calls leave at once, and those that would have waited are told.
func ExampleWithObserveOnly() {
	client, _ := newClient(throttletest.NewUpstream(),
		throttle.WithPolicies(budget.PerMinute(2)),
		throttle.WithObserveOnly(),
		throttle.WithObserver(throttle.ObserverFunc(func(_ context.Context, e throttle.Event) {
			if e.Kind == throttle.KindBypass {
				fmt.Println("would have waited", e.Duration.Round(time.Minute), "for the budget of", e.Budget)
			}
		})),
	)
	for range 3 {
		if err := get(client, "http://api.example/"); err != nil {
			log.Fatal(err)
		}
	}
	// Output: would have waited 1m0s for the budget of requests
}

// A body of which there is no copy, such as one that a proxy passes on, can be sent again when it was buffered.
func ExampleBufferBody() {
	up := throttletest.NewUpstream(throttletest.WithFaults(throttletest.Statuses(http.StatusTooManyRequests)))
	client, _ := newClient(up, throttle.WithBackoff(backoff.Policy{Initial: time.Millisecond}))
	req, err := http.NewRequest(http.MethodPost, "http://api.example/", io.NopCloser(strings.NewReader("hello")))
	if err != nil {
		log.Fatal(err)
	}
	if err := throttle.BufferBody(req, 1<<20); err != nil {
		log.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		log.Fatal(err)
	}
	resp.Body.Close()
	result, _ := throttle.ResultOf(resp)
	fmt.Println(resp.Status, "after", result.Attempts, "attempts")
	// Output: 200 OK after 2 attempts
}

func ExampleWithAttemptTimeout() {
	slow := throttletest.NewUpstream(throttletest.WithLatency(throttletest.Latency{Service: throttletest.Constant(time.Minute)}))
	client, _ := newClient(slow, throttle.WithAttemptTimeout(20*time.Millisecond), throttle.WithMaxAttempts(1))
	err := get(client, "http://api.example/")
	fmt.Println(errors.Is(err, throttle.ErrAttemptTimeout), errors.Is(err, context.DeadlineExceeded))
	// Output: true false
}

// What one call asks for goes by its context.
func ExampleNewContext() {
	client, _ := newClient(throttletest.NewUpstream(), throttle.WithPolicies(budget.PerMinute(1000).Of(budget.Tokens)))
	var result throttle.Result
	ctx := throttle.NewContext(context.Background(), throttle.Call{
		Cost: budget.Cost{budget.Tokens: 1500}, Priority: -1, MaxWait: time.Minute, Result: &result,
	})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://api.example/", nil)
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.Do(req)
	fmt.Println(err)
	fmt.Println(result.Attempts, "attempts")
	// Output:
	// Get "http://api.example/": throttle: api.example: the cost is more than the budget can ever hold (budget tokens: cost 1500, limit 1000)
	// 0 attempts
}
