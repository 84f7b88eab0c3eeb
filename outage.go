package throttle

import (
	"net/http"
	"time"
)

// A server that is down fails every call. After a few failures with no answer in between, the key is held and one call at a time finds out
// whether it is back; else a batch would run through all its calls in the time of an outage, and fail them.
const (
	outageFrom  = 5 // failures in a row: fewer may be bad luck
	outageLeast = time.Second
	outageMost  = time.Minute
	// outagePart is the part of an outage that may be lost at its end: one call each fifth of the time it has lasted burdens nobody.
	outagePart = 5
)

// outage counts failures in a row. The zero value has seen none.
type outage struct {
	inARow int
	since  time.Time // the first of them
}

// failed counts one more, and is how long to hold the key for it.
func (o *outage) failed(now time.Time) time.Duration {
	if o.inARow++; o.inARow == 1 {
		o.since = now
	}
	if o.inARow < outageFrom {
		return 0
	}
	return min(max(now.Sub(o.since)/outagePart, outageLeast), outageMost)
}

// down reports whether a status is one of a server that is not there, rather than one that cannot process this call.
func down(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout
}

// suffer takes into account that a call met a server that is not there, and is the hold that follows. Calls sent before a hold began
// tell nothing new.
func (l *lane) suffer(t *ticket, now time.Time) time.Duration {
	if t.generation != l.hold.generation {
		return 0
	}
	d := l.outage.failed(now)
	if !l.hold.extend(now, now.Add(d), CauseOutage) {
		return 0
	}
	l.gate.close()
	l.sweep(now)
	return d
}
