package bank

import "time"

// instant is a moment as time since the Unix epoch. It advances with the monotonic clock, so a step of the wall clock moves nothing.
type instant = time.Duration

const (
	// never is the answer to "when" if only an answer from the server can open the way.
	never instant = 1<<63 - 1
	// dawn lies before every call.
	dawn instant = -1 << 62
)

// clock turns moments into instants.
type clock struct{ origin time.Time }

func (c *clock) read(now time.Time) instant {
	if c.origin.IsZero() {
		c.origin = now
	}
	return instant(c.origin.UnixNano()) + now.Sub(c.origin)
}

// moment is the inverse of read.
func (c *clock) moment(i instant) time.Time {
	if i == never {
		return c.origin.Add(farAway)
	}
	return c.origin.Add(i - instant(c.origin.UnixNano()))
}

// farAway is how long after the first call "never" lies: a hundred years, past any timer that anybody sets.
const farAway = 100 * 365 * 24 * time.Hour

// seconds is a number of seconds as a duration, and never more than about a century.
func seconds(s float64) time.Duration {
	return time.Duration(min(s, farAway.Seconds()) * float64(time.Second))
}
