package bank

import "time"

// The hold after a refusal that no law explains: 1, 1.5, 2.25 … 60 s, one probe after each.
const (
	firstHold   = time.Second
	holdGrowth  = 1.5
	longestHold = time.Minute
)

// outage tells a server that turns everything away from a law that was wrong. The first refusal under a law in good standing is set
// aside: if a probe after a hold is let in, the law was wrong; if not, the server is.
type outage struct {
	streak int           // refusals in a row, each of a call that left after the one before was known
	first  uint64        // the first call of the streak
	start  instant       // when its refusal came
	began  instant       // when the last one came: calls that left before are part of what happened then
	right  int           // how often in a row the law had been right when the streak began
	doubt  bool          // refusals are set aside
	hold   time.Duration // our own hold
	until  instant       // when it ends
	last   uint64        // the first call of the streak before
	lasted int           // the length of that
}

// refused takes note of a refusal of a call that left at a moment; again says that the call left after the last one was known.
func (o *outage) refused(at, now instant) (again bool) {
	if at <= o.began {
		return false
	}
	if o.streak == 0 {
		o.start = now
	}
	o.began = now
	o.streak++
	return true
}

// extend starts the next hold.
func (o *outage) extend(now instant) {
	o.hold = min(max(time.Duration(float64(o.hold)*holdGrowth), firstHold), longestHold)
	o.until = now + o.hold
}

// ask is when to send a call although the law forbids it: 65 s after the first refusal of a streak, 195, 585 … That is how long a
// law can be wrong.
func (o *outage) ask(since instant) instant {
	wait := firstDoubt
	if o.streak > 0 {
		since = o.start
		for since+wait <= o.began {
			wait *= 3
		}
	}
	return since + wait
}

// over ends the streak.
func (o *outage) over() {
	o.last, o.lasted = o.first, o.streak
	o.streak, o.hold, o.doubt = 0, 0, false
	o.until = dawn
}

// longStreak is how many refusals in a row, each of a call that waited for the one before, look like an outage after the fact.
const longStreak = 3
