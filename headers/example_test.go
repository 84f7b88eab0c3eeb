package headers_test

import (
	"fmt"
	"net/http"
	"time"

	"github.com/seed-18ca0a92/throttle/headers"
)

// An answer of an AI service that is out of tokens, but not of requests.
func ExampleParse() {
	h := http.Header{}
	h.Set("x-ratelimit-limit-requests", "14400")
	h.Set("x-ratelimit-remaining-requests", "14370")
	h.Set("x-ratelimit-reset-requests", "2m59.56s")
	h.Set("x-ratelimit-limit-tokens", "6000")
	h.Set("x-ratelimit-remaining-tokens", "0")
	h.Set("x-ratelimit-reset-tokens", "7.66s")

	report := headers.Parse(h, http.StatusTooManyRequests, time.Now())
	fmt.Println(len(report.Quotas), "quotas, wait", report.Wait().Value)
	// Output: 2 quotas, wait 7.66s
}

// Google puts the wait into the body.
func ExampleParseBody() {
	body := []byte(`{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": [
		{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "45.8s"}]}}`)

	said := headers.ParseBody(body, time.Now())
	fmt.Println(said.Throttled, said.RetryAfter.Value)
	// Output: true 45.8s
}

// A server in a test, and what its client reads.
func ExampleWrite() {
	h := http.Header{}
	headers.Write(h, []headers.Quota{{
		Unit: "requests", Name: "burst",
		Limit: headers.Some(100.0), Remaining: headers.Some(7.0),
		Reset: headers.Some(30 * time.Second), Window: headers.Some(time.Minute),
	}}, headers.RateLimitList)
	fmt.Println(h.Get("RateLimit"))
	fmt.Println(h.Get("RateLimit-Policy"))

	q := headers.Parse(h, http.StatusOK, time.Now()).Quotas[0]
	fmt.Println(q.Remaining.Value, "of", q.Limit.Value, "left")
	// Output:
	// "burst";r=7;t=30
	// "burst";q=100;w=60
	// 7 of 100 left
}

// A hook that reads a header nobody else sends.
func ExampleReport_Add() {
	hook := func(r *headers.Report, resp *http.Response, peek func() []byte) {
		r.Add(headers.Quota{
			Unit:  "exports",
			Reset: headers.ParseReset(resp.Header.Get("X-Next-Export"), resp.Header, time.Now()),
		})
	}
	h := http.Header{}
	h.Set("X-Next-Export", "1m30s")

	var report headers.Report
	hook(&report, &http.Response{Header: h}, nil)
	fmt.Println(report.Quotas[0].Unit, report.Quotas[0].Reset.Value)
	// Output: exports 1m30s
}

// Prisjakt counts its resets in milliseconds.
func ExampleResetsIn() {
	h := http.Header{}
	h.Set("X-Rate-Limit-Reset", "600000")
	report := headers.Parse(h, http.StatusOK, time.Now())
	fmt.Println(report.Quotas[0].Reset.Value)

	headers.ResetsIn(time.Millisecond)(&report, &http.Response{Header: h}, nil)
	fmt.Println(report.Quotas[0].Reset.Value)
	// Output:
	// 166h40m0s
	// 10m0s
}
