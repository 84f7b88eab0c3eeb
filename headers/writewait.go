package headers

import (
	"net/http"
	"strconv"
	"time"
)

// WaitForm is a way to write Retry-After.
type WaitForm uint8

// The forms of RFC 9110, section 10.2.3, and the finer one of AI services.
const (
	WaitSeconds WaitForm = iota // Retry-After: 2
	WaitDate                    // Retry-After: Sun, 01 Mar 2026 12:00:02 GMT
	WaitMilli                   // retry-after-ms: 1500, beside Retry-After: 2
)

// WriteRetryAfter asks the caller to come back after a wait, rounded up to what the form can say; never below 0. A date counts
// from h's Date if it has one, else from time.Now; so set Date first.
func WriteRetryAfter(h http.Header, wait time.Duration, f WaitForm) {
	wait = max(wait, 0)
	if f == WaitDate {
		at := roundUp(dateOr(h, time.Now()).Add(wait), time.Second)
		h.Set("Retry-After", at.UTC().Format(http.TimeFormat))
		return
	}
	h.Set("Retry-After", strconv.FormatInt(int64(ceil(wait, time.Second)/time.Second), 10))
	if f == WaitMilli {
		h.Set("Retry-After-Ms", strconv.FormatInt(int64(ceil(wait, time.Millisecond)/time.Millisecond), 10))
	}
}
