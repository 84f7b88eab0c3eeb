package bank

import "math"

// flight is a law that counts the calls that the server is working on.
type flight struct{ verdict }

var _ law = (*flight)(nil)

func newFlight() *flight { return &flight{unjudged()} }

// judge counts the calls that had left less those that were over: all of them at most, and at least those whose answer came later
// than this call can have taken to arrive.
func (f *flight) judge(e *evidence) {
	if e.refused() {
		f.refuse(float64(e.upTo(e.through).maybe) - float64(e.sends[e.i].done) + 1)
		return
	}
	done := e.done
	if gone := e.seek(e.i, e.at+e.reach+e.guard); gone < len(e.sends) {
		done = e.sends[gone].done
	}
	f.admit(max(float64(e.upTo(e.before).sure)-float64(done)+1, 1))
}

// farForFlight is how many times the latency of a call a server may name that only waits for one to end.
const farForFlight = 10

// heed has little to compare: nobody knows when a call will be done. But it will not take many times as long as it does.
func (f *flight) heed(e *evidence, h hint) {
	if h.from-e.at > farForFlight*e.latency {
		f.denied = true
	}
}

func (f *flight) windowed() bool { return false }

func (f *flight) promise(s *scene) float64 { return f.limit() / max(s.latency, s.guard).Seconds() }

func (f *flight) at(s *scene) instant {
	if float64(s.inFlight) < s.usable(f.limit()) {
		return s.now
	}
	return never
}

func (f *flight) asking(s *scene) bool { return float64(s.inFlight) >= nearLimit*f.limit() }

func (f *flight) forget() { f.verdict = unjudged() }

func (f *flight) state() State {
	if math.IsInf(f.ref, 1) {
		return State{Kind: InFlight}
	}
	return State{Kind: InFlight, Limit: f.limit()}
}
