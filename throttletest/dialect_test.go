package throttletest

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
)

// dialectLimits are 5 requests a minute, whose edge is 10.6 s away at first, and a hundred tokens a minute as a bucket.
func dialectLimits() Option {
	return WithLimits(
		FixedWindow(5, time.Minute).WithPhase(10600*time.Millisecond),
		TokenBucket(100, time.Minute, 0).Of(budget.Tokens),
	)
}

// told is the header of an answer, one "Name: value" each, without what every answer has.
func told(h http.Header) (lines []string) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		switch name {
		case "Content-Type", "Content-Length", "X-Request-Id":
		default:
			lines = append(lines, name+": "+strings.Join(h[name], " | "))
		}
	}
	return lines
}

// TestWhatEachDialectSays spells the headers out, as they are after one call of twelve tokens at midnight.
func TestWhatEachDialectSays(t *testing.T) {
	const date = "Date: Sat, 01 Jan 2000 00:00:00 GMT"
	for d, want := range map[headers.Dialect][]string{
		headers.XRateLimit: {
			date, "X-Ratelimit-Limit: 5", "X-Ratelimit-Limit-Tokens: 100", "X-Ratelimit-Remaining: 4",
			"X-Ratelimit-Remaining-Tokens: 88", "X-Ratelimit-Reset: 11", "X-Ratelimit-Reset-Tokens: 8",
		},
		headers.XRateLimitEpoch: {
			date, "X-Ratelimit-Limit: 5", "X-Ratelimit-Limit-Tokens: 100", "X-Ratelimit-Remaining: 4",
			"X-Ratelimit-Remaining-Tokens: 88", "X-Ratelimit-Reset: 946684811", "X-Ratelimit-Reset-Tokens: 946684808",
		},
		headers.XRateLimitMilli: {
			date, "X-Ratelimit-Limit: 5", "X-Ratelimit-Limit-Tokens: 100", "X-Ratelimit-Remaining: 4",
			"X-Ratelimit-Remaining-Tokens: 88", "X-Ratelimit-Reset: 946684810600", "X-Ratelimit-Reset-Tokens: 946684807200",
		},
		headers.RateLimitTrio: {
			date, "Ratelimit-Limit: 5", "Ratelimit-Policy: 5;w=60", "Ratelimit-Remaining: 4", "Ratelimit-Reset: 11",
		},
		headers.RateLimitDict: {
			date, "Ratelimit: limit=5, remaining=4, reset=11", "Ratelimit-Policy: 5;w=60",
		},
		headers.RateLimitList: {
			date, `Ratelimit: "requests-1m0s";r=4;t=11, "tokens-1m0s";r=88;t=8`,
			`Ratelimit-Policy: "requests-1m0s";q=5;w=60, "tokens-1m0s";q=100;w=60;qu="tokens"`,
		},
		headers.OpenAI: {
			date, "X-Ratelimit-Limit-Requests: 5", "X-Ratelimit-Limit-Tokens: 100", "X-Ratelimit-Remaining-Requests: 4",
			"X-Ratelimit-Remaining-Tokens: 88", "X-Ratelimit-Reset-Requests: 10.6s", "X-Ratelimit-Reset-Tokens: 7.2s",
		},
		headers.Anthropic: {
			"Anthropic-Ratelimit-Requests-Limit: 5", "Anthropic-Ratelimit-Requests-Remaining: 4",
			"Anthropic-Ratelimit-Requests-Reset: 2000-01-01T00:00:11Z", "Anthropic-Ratelimit-Tokens-Limit: 100",
			"Anthropic-Ratelimit-Tokens-Remaining: 88", "Anthropic-Ratelimit-Tokens-Reset: 2000-01-01T00:00:08Z", date,
		},
		headers.GitHub: {
			date, "X-Ratelimit-Limit: 5", "X-Ratelimit-Remaining: 4", "X-Ratelimit-Reset: 946684811", "X-Ratelimit-Used: 1",
		},
		headers.Discord: {
			date, "X-Ratelimit-Limit: 5", "X-Ratelimit-Remaining: 4", "X-Ratelimit-Reset: 946684810.600", "X-Ratelimit-Reset-After: 10.600",
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			resp, _ := post(t, NewUpstream(dialectLimits(), WithDialect(d)), chatURL, hello+"}")
			assert.Equal(t, want, told(resp.Header), "dialect %d", d)
		})
	}
}

// TestRefusalsSpeltOut has the headers of refusals for every reason.
func TestRefusalsSpeltOut(t *testing.T) {
	for name, c := range map[string]struct {
		opts   []Option
		status int
		want   []string // but the Date
	}{
		"a limit": {[]Option{WithLimits(SlidingLog(1, 90*time.Second))}, 429, []string{"Retry-After: 80"}},
		"in milliseconds": {
			[]Option{WithLimits(TokenBucket(5.5, time.Minute, 1)), WithHint(HintMillis, Usual)}, 429,
			[]string{"Retry-After: 1", "Retry-After-Ms: 910"}, // one every 10.909 s
		},
		"by date": {
			[]Option{WithLimits(SlidingLog(1, 90*time.Second)), WithHint(HintDate, Usual), WithClockSkew(time.Hour)}, 429,
			[]string{"Retry-After: Sat, 01 Jan 2000 01:01:30 GMT"},
		},
		"without a hint": {[]Option{WithLimits(SlidingLog(1, 90*time.Second)), WithHint(NoHint, Usual)}, 429, nil},
		"an outage":      {[]Option{WithOutage(Outage{From: 5 * time.Second, For: time.Minute, Hint: true})}, 503, []string{"Retry-After: 55"}},
		"a storm":        {[]Option{WithOutage(Outage{From: 5 * time.Second, For: time.Minute, Status: 429})}, 429, nil},
		"announced, on refusals only": {
			[]Option{WithLimits(SlidingLog(1, 90*time.Second)), WithAnnounce(Announce{On: OnRefusals})}, 429,
			[]string{"Retry-After: 80", "X-Ratelimit-Limit: 1", "X-Ratelimit-Remaining: 0", "X-Ratelimit-Reset: 80"},
		},
		"two families": {
			[]Option{WithLimits(SlidingLog(1, 90*time.Second)), WithDialect(headers.XRateLimit), WithDialect(headers.RateLimitDict)}, 429,
			[]string{
				"Ratelimit: limit=1, remaining=0, reset=80", "Ratelimit-Policy: 1;w=90", "Retry-After: 80",
				"X-Ratelimit-Limit: 1", "X-Ratelimit-Remaining: 0", "X-Ratelimit-Reset: 80",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := NewUpstream(c.opts...)
				begun := time.Now()
				post(t, u, chatURL, "{}")
				time.Sleep(time.Until(begun.Add(10 * time.Second)))
				resp, _ := post(t, u, chatURL, "{}")
				assert.Equal(t, c.status, resp.StatusCode)
				resp.Header.Del("Date")
				assert.Equal(t, c.want, told(resp.Header))
			})
		})
	}
}
