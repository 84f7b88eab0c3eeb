package llm_test

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/seed-18ca0a92/throttle/llm"
)

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
