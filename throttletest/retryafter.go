package throttletest

import (
	"net/http"
	"strconv"
	"time"
)

// Hint is the form in which a refusal says how long to wait.
type Hint uint8

// The hints. Where a limit knows no moment (a concurrency limit), there is none in any form.
const (
	HintSeconds Hint = iota // Retry-After: 17
	HintDate                // Retry-After as an HTTP-date on the server's clock
	HintMillis              // Retry-After-Ms: 16402, beside Retry-After in seconds
	NoHint
)

// write puts a wait of d into h. clock is the server's.
func (f Hint) write(h http.Header, d time.Duration, round Rounding, clock time.Time) {
	switch f {
	case NoHint:
	case HintDate:
		into := time.Duration(clock.Nanosecond())
		at := clock.Add(round.second(d+into) - into)
		h.Set("Retry-After", at.UTC().Format(http.TimeFormat))
	case HintMillis:
		h.Set("Retry-After-Ms", strconv.FormatInt(int64(ceil(d, time.Millisecond)/time.Millisecond), 10))
		fallthrough
	default:
		h.Set("Retry-After", strconv.FormatFloat(round.second(d).Seconds(), 'f', -1, 64))
	}
}
