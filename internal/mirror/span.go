package mirror

import (
	"time"

	"github.com/seed-18ca0a92/throttle/headers"
)

// span is the length a limit is counted over: told by the server, or the longest reset seen, pulled to a round length.
type span struct {
	value moment
	told  bool
}

// round lengths, and how far a longest reset may lie from one to be taken for it: a little short because the first answer
// came a little late in the window, or up to a second long because resets are rounded up.
var roundLengths = [...]moment{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 20 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, time.Hour, 24 * time.Hour,
}

const (
	roundBelow = 0.03
	roundAbove = time.Second
)

func (s *span) stretch(q headers.Quota, r reading) {
	if q.Window.Known && q.Window.Value > 0 {
		s.value, s.told = q.Window.Value, true
	}
	if s.told || !r.timed || r.reset <= s.value {
		return
	}
	s.value = pulled(r.reset)
}

// pulled is d, or the round length near it.
func pulled(d moment) moment {
	for _, l := range roundLengths {
		below := moment(roundBelow * float64(l))
		if d >= l-below && d <= l+min(roundAbove, l/2) {
			return l
		}
	}
	return d
}
