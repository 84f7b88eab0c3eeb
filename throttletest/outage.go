package throttletest

import (
	"net/http"
	"time"
)

// Outage is a span in which the server refuses calls whatever they cost: a breakdown, or a storm of refusals that no limit explains.
// Nothing is charged for such a call. Spans may be given several times; the first that applies decides.
type Outage struct {
	From, For time.Duration // From is counted from the first call
	Status    int           // 503 if zero
	// Hint says the time left in the hint's usual form; without it the refusal says nothing.
	Hint bool
	// Share is the part of the calls that are refused, by chance: 0 means all.
	Share float64
}

// covers says whether the outage refuses a call with that luck, and how long it goes on.
func (o Outage) covers(since time.Duration, luck float64) (left time.Duration, yes bool) {
	left = o.From + o.For - since
	return left, since >= o.From && left > 0 && (o.Share == 0 || luck < o.Share)
}

func (o Outage) status() int {
	if o.Status == 0 {
		return http.StatusServiceUnavailable
	}
	return o.Status
}

func (o Outage) check() error {
	if !isShare(o.Share) || o.For <= 0 || o.From < 0 || o.Status != 0 && !isStatus(o.Status) {
		return errorf("outage: the span must be positive, the share in 0..1, the status in 200..599")
	}
	return nil
}
