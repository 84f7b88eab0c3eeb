package headers

import (
	"net/http"
	"time"
)

// clock is the time an answer was given, to measure its moments against.
type clock struct {
	sec, nsec int64         // Unix time
	grain     time.Duration // 1 s when told by a Date header
	known     bool
}

// farthestDate is how far a server's Date may be from our own clock before it is taken for broken.
const farthestDate = 24 * time.Hour

// clockOf takes the answer's own Date, so that a server whose clock is off is still read right: its moments are off by as
// much. Without a usable Date it is our own clock.
func clockOf(h http.Header, now time.Time) clock {
	c := clock{now.Unix(), int64(now.Nanosecond()), 0, true}
	for _, s := range usable(h["Date"]) {
		m, ok := parseMoment(trim(s))
		if !ok {
			continue
		}
		if d := m.sec - c.sec; -int64(farthestDate/time.Second) <= d && d <= int64(farthestDate/time.Second) {
			return clock{m.sec, m.nsec, time.Second, true}
		}
	}
	return c
}

// until is the time from the clock to m: negative for the past; false if they are more than 366 days apart.
func (c clock) until(m moment) (time.Duration, bool) {
	sec := m.sec - c.sec
	if sec > longestSeconds+1 || sec < -longestSeconds-1 {
		return 0, false
	}
	d := time.Duration(sec)*time.Second + time.Duration(m.nsec-c.nsec)
	return d, -longest <= d && d <= longest
}
