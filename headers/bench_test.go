package headers

import (
	"net/http"
	"testing"
)

// benchmarkAnswers are the headers of typical answers.
func benchmarkAnswers() map[string]http.Header {
	anthropic := []string{
		"Content-Type: application/json",
		"Request-Id: req_1",
		"Server: cloudflare",
		"Cf-Ray: 8c5",
		"Date: Sun, 01 Mar 2026 12:00:00 GMT",
	}
	for _, unit := range []string{"requests", "tokens", "input-tokens", "output-tokens"} {
		anthropic = append(anthropic, "anthropic-ratelimit-"+unit+"-limit: 4000", "anthropic-ratelimit-"+unit+"-remaining: 3999", "anthropic-ratelimit-"+unit+"-reset: 2026-03-01T12:00:48Z")
	}
	return map[string]http.Header{
		"none-of-8": header(
			"Date: Sun, 01 Mar 2026 12:00:00 GMT", "Content-Type: application/json", "Content-Length: 812", "Server: nginx",
			"Connection: keep-alive", "X-Request-Id: 1", "Cache-Control: no-store", "Vary: Accept"),
		"openai-6-of-20": header(
			"Date: Sun, 01 Mar 2026 12:00:00 GMT", "Content-Type: application/json", "Connection: keep-alive",
			"Access-Control-Expose-Headers: X-Request-ID", "OpenAI-Organization: user-x", "OpenAI-Processing-Ms: 812",
			"OpenAI-Version: 2020-10-01", "X-Request-Id: req_1", "Strict-Transport-Security: max-age=31536000",
			"Cf-Cache-Status: DYNAMIC", "Set-Cookie: __cf_bm=x", "X-Content-Type-Options: nosniff", "Server: cloudflare", "Cf-Ray: 8c5-IAD",
			"X-Ratelimit-Limit-Requests: 5000", "X-Ratelimit-Limit-Tokens: 160000", "X-Ratelimit-Remaining-Requests: 4999",
			"X-Ratelimit-Remaining-Tokens: 159976", "X-Ratelimit-Reset-Requests: 12ms", "X-Ratelimit-Reset-Tokens: 6m0s"),
		"github-5-of-12": header(
			"Date: Sun, 01 Mar 2026 12:00:00 GMT", "Content-Type: application/json", "Content-Length: 812", "Server: GitHub.com",
			"X-GitHub-Request-Id: 1", "Cache-Control: no-store", "Vary: Accept", "X-RateLimit-Limit: 5000",
			"X-RateLimit-Remaining: 4999", "X-RateLimit-Reset: 1772366460", "X-RateLimit-Used: 1", "X-RateLimit-Resource: core"),
		"structured-2-of-8": header(
			"Date: Sun, 01 Mar 2026 12:00:00 GMT", "Content-Type: application/json", "Content-Length: 812", "Server: nginx",
			"Cache-Control: no-store", "Vary: Accept", `RateLimit-Policy: "burst";q=100;w=60,"daily";q=1000;w=86400`,
			`RateLimit: "burst";r=50;t=30,"daily";r=999`),
		"anthropic-12-of-17": header(anthropic...),
	}
}

// sink keeps the compiler from leaving out what is measured.
var sink Report

func BenchmarkParse(b *testing.B) {
	for name, h := range benchmarkAnswers() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink = Parse(h, 200, noon)
			}
		})
	}
}

func BenchmarkParseInto(b *testing.B) {
	for name, h := range benchmarkAnswers() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var r Report
			for b.Loop() {
				ParseInto(&r, h, 200, noon)
			}
		})
	}
}

func BenchmarkShape(b *testing.B) {
	for name, h := range benchmarkAnswers() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var r Report
			var s Shape
			for b.Loop() {
				s.ParseInto(&r, h, 200, noon)
			}
		})
	}
}

// BenchmarkRange is the floor of ParseInto: what it takes to look at each header once.
func BenchmarkRange(b *testing.B) {
	for name, h := range benchmarkAnswers() {
		b.Run(name, func(b *testing.B) {
			bytes := 0
			for b.Loop() {
				for name := range h {
					bytes += len(name)
				}
			}
			_ = bytes
		})
	}
}

func BenchmarkParseBody(b *testing.B) {
	body := []byte(`{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"45.837906927s"}]}}`)
	b.ReportAllocs()
	for b.Loop() {
		ParseBody(body, noon)
	}
}
