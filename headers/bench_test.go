package headers

import (
	"net/http"
	"testing"
	"time"
)

// answer is a header with the given lines on top of what every server sends.
func answer(lines ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(lines); i += 2 {
		h.Add(lines[i], lines[i+1])
	}
	return h
}

func openAIAnswer() http.Header {
	return answer(
		"Date", "Sun, 01 Mar 2026 12:00:00 GMT", "Content-Type", "application/json", "Connection", "keep-alive",
		"Access-Control-Expose-Headers", "X-Request-ID", "OpenAI-Organization", "user-x", "OpenAI-Processing-Ms", "812",
		"OpenAI-Version", "2020-10-01", "X-Request-Id", "req_1", "Strict-Transport-Security", "max-age=31536000",
		"Cf-Cache-Status", "DYNAMIC", "Set-Cookie", "__cf_bm=x", "X-Content-Type-Options", "nosniff", "Server", "cloudflare",
		"Cf-Ray", "8c5-IAD",
		"X-Ratelimit-Limit-Requests", "5000", "X-Ratelimit-Limit-Tokens", "160000",
		"X-Ratelimit-Remaining-Requests", "4999", "X-Ratelimit-Remaining-Tokens", "159976",
		"X-Ratelimit-Reset-Requests", "12ms", "X-Ratelimit-Reset-Tokens", "6m0s",
	)
}

func plainAnswer() http.Header {
	return answer(
		"Date", "Sun, 01 Mar 2026 12:00:00 GMT", "Content-Type", "application/json", "Content-Length", "812",
		"Server", "nginx", "Connection", "keep-alive", "X-Request-Id", "1", "Cache-Control", "no-store", "Vary", "Accept",
	)
}
func gitHubAnswer() http.Header {
	return answer(
		"Date", "Sun, 01 Mar 2026 12:00:00 GMT", "Content-Type", "application/json", "Content-Length", "812",
		"Server", "GitHub.com", "X-GitHub-Request-Id", "1", "Cache-Control", "no-store", "Vary", "Accept",
		"X-RateLimit-Limit", "5000", "X-RateLimit-Remaining", "4999", "X-RateLimit-Reset", "1772366460",
		"X-RateLimit-Used", "1", "X-RateLimit-Resource", "core",
	)
}
func structuredAnswer() http.Header {
	return answer(
		"Date", "Sun, 01 Mar 2026 12:00:00 GMT", "Content-Type", "application/json", "Content-Length", "812",
		"Server", "nginx", "Cache-Control", "no-store", "Vary", "Accept",
		"RateLimit-Policy", `"burst";q=100;w=60,"daily";q=1000;w=86400`, "RateLimit", `"burst";r=50;t=30,"daily";r=999`,
	)
}
func anthropicAnswer() http.Header {
	h := answer("Date", "Sun, 01 Mar 2026 12:00:00 GMT", "Content-Type", "application/json", "Request-Id", "req_1", "Server", "cloudflare", "Cf-Ray", "8c5")
	for _, unit := range []string{"requests", "tokens", "input-tokens", "output-tokens"} {
		h.Set("anthropic-ratelimit-"+unit+"-limit", "4000")
		h.Set("anthropic-ratelimit-"+unit+"-remaining", "3999")
		h.Set("anthropic-ratelimit-"+unit+"-reset", "2026-03-01T12:00:48Z")
	}
	return h
}

var benchNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

var sink Report

func BenchmarkParse(b *testing.B) {
	for name, h := range map[string]http.Header{
		"openai-20": openAIAnswer(), "none-8": plainAnswer(), "github": gitHubAnswer(),
		"structured": structuredAnswer(), "anthropic": anthropicAnswer(),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink = Parse(h, 200, benchNow)
			}
		})
		b.Run("range-"+name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				for k := range h {
					n += len(k)
				}
			}
		})
		b.Run(name+"/into", func(b *testing.B) {
			b.ReportAllocs()
			var r Report
			for b.Loop() {
				ParseInto(&r, h, 200, benchNow)
			}
		})
	}
}
