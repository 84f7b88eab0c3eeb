package throttle

import (
	"net/http"
	"time"
)

// A server that is down fails every call. After a few failures with no answer in between, the key is held and one call at a time finds out
// whether it is back; else a batch would run through all its calls in the time of an outage, and fail them.
const (
	outageFrom   = 5 // failures in a row: fewer may be bad luck
	outageFirst  = time.Second
	outageGrowth = 1.5
	outageMost   = 10 * time.Second // one call in ten seconds burdens nobody, and finds the end soon
)

// outage counts failures in a row. The zero value has seen none.
type outage struct {
	inARow int
	step   time.Duration // the newest hold
}

// failed counts one more, and is how long to hold the key for it.
func (o *outage) failed() time.Duration {
	if o.inARow++; o.inARow < outageFrom {
		return 0
	}
	if o.step == 0 {
		o.step = outageFirst
	} else {
		o.step = min(time.Duration(outageGrowth*float64(o.step)), outageMost)
	}
	return o.step
}

// down reports whether a status is one of a server that is not there, rather than one that cannot process this call.
func down(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout
}

// suffer takes into account that a call met a server that is not there, and is the hold that follows. Calls sent before a hold began
// tell nothing new.
func (l *lane) suffer(w *waiter, now time.Time) time.Duration {
	if w.generation != l.hold.generation {
		return 0
	}
	d := l.outage.failed()
	if !l.hold.extend(now, now.Add(d), CauseOutage) {
		return 0
	}
	l.gate.close()
	l.sweep(now)
	return d
}
