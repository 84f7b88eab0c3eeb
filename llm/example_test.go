package llm_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
	"github.com/seed-18ca0a92/throttle/llm"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

// A batch of chat calls: what they cost is estimated, and settled by the usage in each answer.
func ExamplePreset() {
	up := throttletest.NewUpstream(
		throttletest.WithLimits(throttletest.FixedWindow(100_000, 24*time.Hour).Of(budget.Tokens)),
		throttletest.WithDialect(headers.OpenAI),
	)
	transport, err := throttle.NewTransport(up, llm.Preset(), throttle.WithAttemptTimeout(10*time.Minute))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer transport.Close()
	client := &http.Client{Transport: transport}
	for range 20 {
		body := `{"model":"small","max_tokens":50,"messages":[{"role":"user","content":"Name one river."}]}`
		resp, err := client.Post("http://api.example/v1/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			fmt.Println(err)
			return
		}
		answer, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !strings.Contains(string(answer), "usage") {
			fmt.Println(string(answer), err)
			return
		}
	}
	quota := transport.Snapshot()[0]
	fmt.Println(quota.Key+":", quota.Budgets[0].Limit, quota.Budgets[0].Unit)
	fmt.Println(up.Stats().Admitted, "admitted,", up.Stats().Refused, "refused")
	// Output:
	// api.example small: 100000 tokens
	// 20 admitted, 0 refused
}

func ExampleEstimator() {
	e := llm.NewEstimator()
	p := llm.Inspect([]byte(`{"model":"small","messages":[{"role":"user","content":"Name one river."}],"max_tokens":200}`))
	fmt.Println("before any answer:", e.Estimate(p).Output)
	for range 20 {
		e.Observe(p, llm.Tokens{Input: 11, Output: 3})
	}
	fmt.Println("after twenty:", e.Estimate(p).Output)
	// Output:
	// before any answer: 200
	// after twenty: 3
}

func ExampleByModel() {
	req, err := http.NewRequest(http.MethodPost, "https://api.example/v1/chat/completions", strings.NewReader(`{"model":"small"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(llm.ByModel(req))
	// Output: api.example small
}
