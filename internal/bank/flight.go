package bank

import (
	"math"
	"time"
)

// A cap on the calls in flight is asked after from time to time: after a quiet time one call more may fly, after the next two more,
// then four. A refusal takes all of that back and doubles the quiet time.
const (
	firstRest   = time.Minute
	longestRest = 10 * time.Minute
)

// flight is a law that counts the calls that the server is working on.
type flight struct {
	verdict
	extra float64 // calls beyond the limit, to see whether it has risen
	since instant // when extra last changed
	rest  time.Duration
}

var _ law = (*flight)(nil)

func newFlight() *flight { return &flight{verdict: unjudged(), rest: firstRest} }

// judge counts the calls that had left less those that were over: all of them at most, and at least those whose answer came later
// than this call can have taken to arrive.
func (f *flight) judge(e *evidence) {
	if e.refused() {
		f.refuse(float64(e.upTo(e.through).maybe) - float64(e.sends[e.i].done) + 1)
		f.retreat(e.at)
		return
	}
	done := e.done
	if gone := e.seek(e.i, e.at+e.reach+e.guard); gone < len(e.sends) {
		done = e.sends[gone].done
	}
	f.admit(max(float64(e.upTo(e.before).sure)-float64(done)+1, 1))
}

// retreat takes back what was asked for.
func (f *flight) retreat(at instant) {
	if at <= f.since {
		return
	}
	if f.extra > 0 {
		f.rest = min(2*f.rest, longestRest)
	}
	f.extra, f.since = 0, at
}

// flightHope is how much more a cap promises than it may hold: latencies vary, and no wrong law dies sooner.
const flightHope = 1.5

// farForFlight is how many times the latency of a call a server may name that only waits for one to end.
const farForFlight = 10

// heed has little to compare: nobody knows when a call will be done. But it will not take many times as long as it does.
func (f *flight) heed(e *evidence, h hint) {
	if !h.rough && h.from-e.at > farForFlight*e.latency {
		f.denied = true
	}
}

func (f *flight) windowed() bool { return false }

func (f *flight) promise(s *scene) float64 {
	return flightHope * f.limit() / max(s.latency, s.guard).Seconds()
}

func (f *flight) at(s *scene) instant {
	limit := s.usable(f.limit())
	if float64(s.inFlight) < limit {
		return s.now
	}
	if s.now > f.since+f.rest {
		f.extra, f.since = 2*f.extra+1, s.now
	}
	if float64(s.inFlight) < limit+f.extra {
		return s.now
	}
	return never
}

func (f *flight) asking(s *scene) bool { return float64(s.inFlight) >= nearLimit*f.limit() }

func (f *flight) known() bool { return false }

// extent is the cap, unless more than that were let go on purpose.
func (f *flight) extent() float64 {
	if f.extra > 0 {
		return 0
	}
	return f.limit()
}

// surprise lowers the limit by a fifth: the order of calls explains too much when many fly.
func (f *flight) surprise() { f.reserve += max(1, math.Floor(f.limit()/5)) }

func (f *flight) save() (restore func()) {
	v := f.verdict
	return func() { f.verdict = v }
}

func (f *flight) forget() { f.verdict = unjudged() }

func (f *flight) state() State {
	if math.IsInf(f.ref, 1) {
		return State{Kind: InFlight}
	}
	return State{Kind: InFlight, Limit: f.limit()}
}
