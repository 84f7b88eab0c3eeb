package throttletest

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/seed-18ca0a92/throttle/headers"
)

// standIn writes the families that are needed first. It goes when headers.Write is there.
func standIn(h http.Header, quotas []headers.Quota, d headers.Dialect, clock time.Time) {
	for _, q := range quotas {
		limit, left := strconv.FormatFloat(q.Limit.Value, 'f', -1, 64), strconv.FormatFloat(q.Remaining.Value, 'f', -1, 64)
		seconds := strconv.FormatFloat(q.Reset.Value.Seconds(), 'f', -1, 64)
		switch d {
		case headers.OpenAI:
			h.Set("X-Ratelimit-Limit-"+q.Unit, limit)
			h.Set("X-Ratelimit-Remaining-"+q.Unit, left)
			h.Set("X-Ratelimit-Reset-"+q.Unit, q.Reset.Value.String())
		case headers.Anthropic:
			h.Set("Anthropic-Ratelimit-"+q.Unit+"-Limit", limit)
			h.Set("Anthropic-Ratelimit-"+q.Unit+"-Remaining", left)
			h.Set("Anthropic-Ratelimit-"+q.Unit+"-Reset", clock.Add(q.Reset.Value).UTC().Format(time.RFC3339Nano))
		case headers.RateLimitTrio:
			h.Set("Ratelimit-Limit", limit)
			h.Set("Ratelimit-Remaining", left)
			h.Set("Ratelimit-Reset", seconds)
			h.Set("Ratelimit-Policy", fmt.Sprintf("%s;w=%.0f", limit, q.Window.Value.Seconds()))
		default:
			h.Set("X-Ratelimit-Limit", limit)
			h.Set("X-Ratelimit-Remaining", left)
			if d == headers.XRateLimit {
				h.Set("X-Ratelimit-Reset", seconds)
			} else {
				h.Set("X-Ratelimit-Reset", strconv.FormatInt(clock.Add(q.Reset.Value).Unix(), 10))
			}
		}
	}
}
