package mirror

import "math"

// filling is the question whether resets are the time until a bucket is full: then all answers agree on one rate, what is
// missing over the reset. In a window what is missing grows while the reset stays, and no rate fits two answers. Others who
// draw change nothing in that.
type filling struct {
	atLeast, atMost float64 // the rates that fit every answer, units a second
	least           moment  // the shortest reset seen
	missing         float64 // what was missing then
	begun           bool
	confirmed       bool // a reset was seen to grow with what is missing, and a rate fits
	refuted         bool
}

// hear takes in an answer that left room for missing more units.
func (f *filling) hear(r reading, missing float64) {
	if f.refuted || !r.counted || !r.timed || r.reset <= 0 {
		return
	}
	if !f.begun {
		f.begun, f.atMost, f.least, f.missing = true, math.Inf(1), r.reset, missing
	}
	f.atLeast = max(f.atLeast, (missing-1)/r.reset.Seconds())
	if r.reset > r.grain {
		f.atMost = min(f.atMost, missing/(r.reset-r.grain).Seconds())
	}
	f.refuted = f.atLeast > f.atMost*(1+1e-3)
	if r.reset < f.least {
		f.least, f.missing = r.reset, missing
	}
	grown := missing > f.missing && r.reset-r.grain >= f.least && r.reset > f.least
	f.confirmed = !f.refuted && (f.confirmed || grown)
}
