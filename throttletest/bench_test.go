package throttletest

import (
	"io"
	"testing"
	"time"

	"github.com/seed-18ca0a92/throttle/headers"
)

// BenchmarkRoundTrip is what one call of a simulation costs besides the client under test.
func BenchmarkRoundTrip(b *testing.B) {
	u := NewUpstream(WithLimits(TokenBucket(1e9, time.Second, 0)), WithDialect(headers.OpenAI), WithLog(0))
	b.ReportAllocs()
	for b.Loop() {
		resp, err := u.RoundTrip(request(hello + "}"))
		if err != nil {
			b.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}

func BenchmarkBound(b *testing.B) {
	u := NewUpstream(WithLimits(FixedWindow(600, time.Minute), SlidingLog(700, time.Minute), Concurrency(64)), WithLatency(lat))
	for b.Loop() {
		u.Bound(Job{Calls: 10_000, Workers: 64, Start: dawn})
	}
}
