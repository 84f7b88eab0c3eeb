package job

import (
	"net/http"
	"time"
)

// Traffic is the transport below the throttle: it sees every single attempt, counts it, and keeps a stopped job from sending more.
type Traffic struct {
	Base  http.RoundTripper
	Tally *Tally
}

// RoundTrip sends req.
func (t *Traffic) RoundTrip(req *http.Request) (*http.Response, error) {
	now := time.Now()
	f, _ := req.Context().Value(flightKey{}).(*flight)
	if f != nil {
		if err := f.takeOff(now); err != nil {
			if req.Body != nil {
				_ = req.Body.Close() // the contract of http.RoundTripper; nothing can be done about a failure
			}
			return nil, err
		}
	}
	t.Tally.sent(now)
	resp, err := t.Base.RoundTrip(req)
	status := 0
	if err == nil {
		status = resp.StatusCode
	}
	t.Tally.answered(time.Now(), status)
	switch {
	case f == nil:
	case t.Tally.refusesAccount(status):
		f.ground()
	case mayRepeat(status):
		f.turnBack()
	}
	return resp, err
}

// CloseIdleConnections closes those of the base, if it can.
func (t *Traffic) CloseIdleConnections() {
	if c, ok := t.Base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// mayRepeat tells the answers after which another attempt is likely; 0 is none at all.
func mayRepeat(status int) bool {
	return status == 0 || status == http.StatusTooManyRequests || status >= 500
}
