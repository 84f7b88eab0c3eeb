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
	began   instant       // calls that left before are part of what happened then
	until   instant       // our own hold
	hold    time.Duration // its length
	streak  int           // refusals in a row, each of a call that left after the one before was known
	doubt   bool          // refusals are set aside
	trusted bool          // the law was in good standing when the streak began
	first   uint64        // the first call of the streak
}

// refused takes note of a refusal of a call that left at a moment; again says that the call left after the last one was known.
func (o *outage) refused(at, now instant) (again bool) {
	if at <= o.began {
		return false
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

// over ends the streak.
func (o *outage) over() {
	o.streak, o.hold, o.doubt = 0, 0, false
	o.until = dawn
}
