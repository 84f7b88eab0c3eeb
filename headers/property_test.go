package headers

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// pool are lines that touch every rule, good and bad.
var pool = []string{
	"Retry-After: 5",
	"Retry-After: 5, 60",
	"Retry-After: junk",
	"Retry-After: Sun, 01 Mar 2026 12:01:00 GMT",
	"Retry-After-Ms: 1500",
	"X-RateLimit-Retry-After: 9",
	"X-Should-Retry: false",
	"RateLimit-Limit: 60",
	"RateLimit-Limit: 60, 60;w=60, 1000;w=3600",
	"RateLimit-Remaining: 7",
	"RateLimit-Reset: 20",
	"RateLimit-Policy: 60;w=1",
	`RateLimit-Policy: "a";q=10;w=1, "b";q=20;w=60;pk=:QQ==:`,
	`RateLimit-Policy: "fixed window";"api";q=500;w=300`,
	`RateLimit: "a";r=1;t=5, "b";r=2;pk=:QQ==:`,
	`RateLimit: "api";r=0;t=55`,
	`RateLimit: "broken`,
	"RateLimit: limit=10, remaining=5, reset=1",
	"X-RateLimit-Limit: 100",
	"X-RateLimit-Limit: 50",
	"X-RateLimit-Limit: 600,30000",
	"X-RateLimit-Remaining: 99",
	"X-RateLimit-Remaining: -1",
	"X-RateLimit-Used: 3",
	"X-RateLimit-Reset: 1772366460",
	"X-RateLimit-Reset: 30",
	"X-RateLimit-Reset-After: 64.57",
	"X-RateLimit-Bucket: abcd",
	"X-RateLimit-Resource: core",
	"X-RateLimit-Period: 60",
	"X-RateLimit-Burst-Capacity: 20",
	"X-RateLimit-Usage: 314,27536",
	"X-RateLimit-Next: 2026-03-01T12:00:01.000Z",
	"X-RateLimit-Interval-Milliseconds: 10000",
	"X-RateLimit-Max: 100",
	"X-RateLimit-Limit-Daily: 5",
	"X-RateLimit-Limit-Minute: 5",
	"X-RateLimit-Limit-Tokens: 150000",
	"X-RateLimit-Reset-Tokens: 6m0s",
	"X-RateLimit-Endpoint-Requests-Limit: 9",
	"X-RateLimit-Endpoint-Name: issueCreate",
	"X-Rate-Limit-Remaining: 4",
	"Anthropic-Priority-Tokens-Reset: 2026-03-01T12:00:09Z",
	"X-Shopify-Shop-Api-Call-Limit: 32/40",
	"X-App-Rate-Limit: 20:1,100:120",
	`X-App-Usage: {"call_count":28}`,
	"Zendesk-RateLimit-X: total=5; remaining=4",
	"Age: 3",
	"Content-Type: text/html",
}

func drawLines(t *rapid.T) []string {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(pool), 0, 12, func(s string) string { return s }).Draw(t, "lines")
}

func requireSameReport(t require.TestingT, want, got Report) {
	require.Equal(t, want.RetryAfter, got.RetryAfter)
	require.Equal(t, want.ShouldRetry, got.ShouldRetry)
	require.Equal(t, show(want), show(got))
}

func TestTheOrderOfHeadersDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := drawLines(t)
		shuffled := rapid.Permutation(lines).Draw(t, "shuffled")
		want := Parse(header(lines...), 200, noon)
		for range 4 { // the order of a map is another each time
			requireSameReport(t, want, Parse(header(shuffled...), 200, noon))
		}
	})
}

func TestWhatOtherHeadersSayDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := header(drawLines(t)...)
		want := Parse(h, 200, noon)
		for _, name := range []string{
			"X-Request-Id",
			"X-Frame-Options",
			"X-Content-Type-Options",
			"Set-Cookie",
			"X-Ms-Request-Id",
			"Retry-Count",
			"X",
		} {
			h.Set(name, "5")
		}
		requireSameReport(t, want, Parse(h, 200, noon))
	})
}

func TestSpellingDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := header(drawLines(t)...)
		lower := http.Header{}
		for name, lines := range h {
			lower[strings.ToLower(name)] = lines
		}
		requireSameReport(t, Parse(h, 200, noon), Parse(lower, 200, noon))
	})
}

func TestTheLocalClockDoesNotMatterWhereTheServerTellsItsOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := header(append(drawLines(t), noonDate)...)
		off := time.Duration(rapid.Int64Range(-int64(farthestDate), int64(farthestDate)).Draw(t, "off"))
		requireSameReport(t, Parse(h, 200, noon), Parse(h, 200, noon.Add(off.Truncate(time.Second))))
	})
}

func TestEveryReportIsSane(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := Parse(header(drawLines(rt)...), rapid.Int().Draw(rt, "status"), noon)
		requireSane(t, r)
	})
}

// A list may come in one line or in several.
func TestLinesOfAListMayBeJoined(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfN(rapid.SampledFrom([]string{`"a";r=1;t=5`, `"b";r=2`, `"a";r=3;pk=:QQ==:`, `c;t=9;w=60`}), 1, 5).Draw(t, "items")
		var apart []string
		for _, it := range items {
			apart = append(apart, "RateLimit: "+it)
		}
		together := "RateLimit: " + strings.Join(items, ", ")
		requireSameReport(t, Parse(header(apart...), 200, noon), Parse(header(together), 200, noon))
	})
}

func TestRetryAfterIsReadAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wait := time.Duration(rapid.Int64Range(0, int64(longest)).Draw(t, "wait"))
		for form, step := range map[WaitForm]time.Duration{WaitSeconds: time.Second, WaitDate: time.Second, WaitMilli: time.Millisecond} {
			h := header(noonDate)
			WriteRetryAfter(h, wait, form)
			require.Equal(t, Some(ceil(wait, step)), Parse(h, 429, noon).RetryAfter, h)
		}
	})
}

// Parse keeps no state: many may read the same header at once.
func TestManyReadersOfOneHeader(t *testing.T) {
	h := header(pool...)
	delete(h, "Age")
	want := show(Parse(h, 200, noon))
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			for range 50 {
				if got := show(Parse(h, 200, noon)); strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
	readers.Wait()
}
