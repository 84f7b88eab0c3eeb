package mirror

import "time"

// length is what the limit is counted over: told by the server, or the longest reset seen, pulled to a round length.
type length struct {
	value moment
	told  bool
	round bool
}

// roundLengths are those that APIs count over.
var roundLengths = [...]moment{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 20 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, time.Hour, 24 * time.Hour,
}

const (
	// roundBelow is how far a longest reset may fall short of a round length, as a part of it: the first answer comes a little
	// late in the window, and some servers round down.
	roundBelow = 0.03
	// roundSlack is how far an exact reset may exceed it, for want of precision.
	roundSlack = 10 * time.Millisecond
)

// sure says whether the length may be used to tell the next edge from the last.
func (l *length) sure() bool { return l.told || l.round }

// hear takes in a reset; late is what the server's rounding may have cut off.
func (l *length) hear(r *reading, late moment) {
	if r.length > 0 {
		l.value, l.told = r.length, true
	}
	if l.told || !r.timed || r.reset+late <= l.value {
		return
	}
	value, round := pulled(r.reset+late, r.grain)
	if v, ok := pulled(r.reset, r.grain); !round && ok {
		value, round = v, true
	}
	l.value, l.round = max(l.value, value), round
}

// pulled is d, or the round length near it. A reset of whole seconds never exceeds the length; the difference of a rounded moment
// and a truncated Date, whose grain is two seconds, does by up to one.
func pulled(d, grain moment) (value moment, round bool) {
	above := max(roundSlack, grain-time.Second)
	for _, l := range roundLengths {
		if d >= l-moment(roundBelow*float64(l)) && d <= l+min(above, l/2) {
			return l, true
		}
	}
	return d, false
}
