package throttle

import "time"

// loneStart is how long one call alone is waited for before the others follow without its answer: an answer may take minutes (a long
// completion), a network hardly ever takes two seconds.
const loneStart = 2 * time.Second

// gate lets one call cross where nothing is known yet: at first contact, at the end of a hold, at an edge not yet proven, under a law not
// yet tried. The others follow its answer. The zero value is open.
type gate struct {
	state gateState
	since time.Time // when the call that flies left
	flyer *ticket
}

type gateState uint8

const (
	open   gateState = iota // anybody may pass
	due                     // the next call crosses alone
	flying                  // it is on its way
)

// close asks for a lone crossing, unless one is under way.
func (g *gate) close() {
	if g.state == open {
		g.state = due
	}
}

// send makes t the one that crosses.
func (g *gate) send(now time.Time, t *ticket) { *g = gate{state: flying, since: now, flyer: t} }

// shut is until when nobody may pass, and whether somebody is crossing.
func (g *gate) shut(now time.Time) (until time.Time, yes bool) {
	if g.state != flying {
		return time.Time{}, false
	}
	until = g.since.Add(loneStart)
	if !now.Before(until) {
		*g = gate{}
		return time.Time{}, false
	}
	return until, true
}

// answered opens the gate if t was the one that crossed.
func (g *gate) answered(t *ticket) {
	if g.flyer == t {
		*g = gate{}
	}
}

// lost lets the next call cross, if t was the one that did and no answer came.
func (g *gate) lost(t *ticket) {
	if g.flyer == t {
		*g = gate{state: due}
	}
}
