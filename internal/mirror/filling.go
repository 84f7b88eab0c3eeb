package mirror

import (
	"math"
	"time"
)

// filling is the question whether resets are the time until a bucket is full: then all answers agree on one rate, what is
// missing over the reset. In a window what is missing grows while the reset stays, and no rate fits two answers. Others who
// draw change nothing in that.
type filling struct {
	atLeast, atMost float64 // the rates that fit every answer, units a second
	least           moment  // the shortest reset seen
	missing         float64 // what was missing then
	begun           bool
	down            bool // resets are rounded down, or to the nearest: one was zero though something was missing
	confirmed       bool // a reset was seen to grow with what is missing, and a rate fits
	refuted         bool
}

// hear takes in how much is missing and how long it takes.
func (f *filling) hear(r *reading) {
	missing := r.limit - r.told // and not by our own count: what a call was reckoned to cost may be more than it was charged
	if f.refuted || !r.timed || r.limit <= 0 || missing <= 0 {
		return
	}
	if r.reset == 0 {
		f.down, f.atLeast = true, 0
		return
	}
	if !f.begun {
		f.begun, f.atMost, f.least, f.missing = true, math.Inf(1), r.reset, missing
	}
	f.bound(r, missing)
	if r.reset < f.least {
		f.least, f.missing = r.reset, missing
	}
	f.confirmed = !f.refuted && (f.confirmed || f.grown(r, missing))
}

// grown says whether a reset is longer than the shortest by what more is missing, and not by chance: that of a log may be told a millisecond more.
func (f *filling) grown(r *reading, missing float64) bool {
	more, longer := missing-f.missing, r.reset-f.least
	return more > 0 && longer > 0 && longer >= r.grain && secs(longer) >= grownPart*more/f.atMost
}

// grownPart is the part of the time in which a bucket fills what more is missing that a reset must at least have grown by: of what
// is missing no fraction is told.
const grownPart = 0.5

// bound narrows the rate to what an answer allows.
func (f *filling) bound(r *reading, missing float64) {
	longest, shortest := r.reset+finest, r.reset-max(r.grain, finest)
	if f.down {
		longest += r.grain
	}
	f.atLeast = max(f.atLeast, (missing-1)/secs(longest))
	if shortest > 0 && r.left >= 1 { // an empty bucket may lack more than all: it may be in debt
		f.atMost = min(f.atMost, missing/secs(shortest))
	}
	f.refuted = f.atLeast > f.atMost*(1+rateSlack)
}

// finest is what even resets that are told in milliseconds may be off by: of a bucket that is full again in some of them it is a good part.
const finest = time.Millisecond

// rateSlack is how far two answers may differ in the rate, for resets that are exact to the millisecond.
const rateSlack = 1e-3
