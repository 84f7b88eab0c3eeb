package bank

import (
	"math"
	"time"
)

// law is one way a server may count calls. It is alive as long as its counter separates the calls that were let in from those that
// were turned away.
type law interface {
	// judge takes the outcome of one call as evidence.
	judge(e *evidence)
	// heed takes as evidence that the server said when it would let in the call that it has turned away.
	heed(e *evidence, h hint)
	alive() bool
	// promise is the calls per second that the law lets through in the long run.
	promise(s *scene) float64
	// at is when the next call may leave, never if only an answer can open the way.
	at(s *scene) instant
	// windowed is whether the law counts calls since some moment, so that it opens at once for many.
	windowed() bool
	// asking is whether the law would not be surprised if the last call were turned away.
	asking(s *scene) bool
	// known is whether the number that the law is about is known closely.
	known() bool
	// extent is what refusals can still take from the law: a limit, or a range of rates; zero if the next refusal is expected.
	extent() float64
	// surprise takes note of a call that was turned away although the law allowed it.
	surprise()
	// forget drops all evidence.
	forget()
	// save returns a function that brings today's verdict back.
	save() (restore func())
	state() State
}

// evidence is a call whose outcome is known, and what is needed to count it.
type evidence struct {
	*tape
	i       int
	at      instant
	guard   time.Duration
	latency time.Duration // of a call that is let in
	reach   time.Duration // the network round trip: an answer received this long after a send was on its way before the call arrived
	// how many calls had left before any that could overtake this one, and up to the last that could be overtaken by it
	before, through int
}

// then is the scene in which the call left.
func (e *evidence) then() *scene {
	return &scene{tape: e.tape, now: e.at, guard: e.guard}
}

func (e *evidence) refused() bool { return e.sends[e.i].outcome == refused }

// scene is the present, for which a law has to name a moment.
type scene struct {
	*tape
	now      instant
	inFlight int
	guard    time.Duration
	latency  time.Duration
	caution  float64 // the part of a limit that must be free, 0 to 1
}

// usable is what of a limit may be used up to.
func (s *scene) usable(limit float64) float64 { return max(limit*(1-s.caution), 1) }

// recent is the calls per second that left in the ten seconds before the last one did, or in the time since the first.
func (s *scene) recent() float64 { return s.pace(10 * time.Second) }

// pace is the same for any span.
func (s *scene) pace(span time.Duration) float64 {
	n := len(s.sends)
	if n == 0 {
		return 0
	}
	last := s.sends[n-1].at
	age := min(max(last-s.sends[0].at, time.Second), span)
	return float64(s.upTo(n).maybe-s.upTo(s.seek(n, last-age)).maybe) / age.Seconds()
}

// verdict is what the evidence leaves of one counter: the highest value that was let in and the lowest that was turned away.
type verdict struct {
	ok, ref float64
	reserve float64 // what to stay below the limit, after refusals that the order of calls could explain away
	denied  bool    // the server itself said otherwise
}

func unjudged() verdict { return verdict{ref: math.Inf(1)} }

func (v *verdict) admit(value float64)  { v.ok = max(v.ok, value) }
func (v *verdict) refuse(value float64) { v.ref = min(v.ref, value) }
func (v *verdict) alive() bool          { return v.ok < v.ref && !v.denied }

// limit is the highest whole value that no refusal forbids, less the reserve, but what was let in for certain at least.
func (v *verdict) limit() float64 { return max(v.ref-1-v.reserve, v.ok, 1) }

// surprise takes note of a call that was turned away although the counter stood below its limit.
func (v *verdict) surprise() { v.reserve++ }
