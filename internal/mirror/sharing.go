package mirror

import (
	"math"
	"time"
)

// sharing is how a quota is divided with others who draw on it, without a word between them. What they draw shows in a supply
// that stays below what it ought to be.
type sharing struct {
	seen moment // when they were last seen to draw; 0 never
	told moment // the newest answer that could have shown it

	least   float64 // a supply that was surely there, at
	leastAt moment
	known   bool

	part  float64 // own part of all that is drawn; 0 is not measured
	drain float64 // units a second that others draw
	rate  float64 // own units a second that use the window up just at its edge

	// What was drawn since the last change of part, and how long that took; and the point up to which it was counted.
	own, others, taken float64
	begun              bool
	at                 moment
	supply, sent       float64
}

const (
	// crowd is how long others count as present after they were last seen to draw.
	crowd = time.Minute
	// measureOwn is how many own units are drawn before the part is changed, and measureTime how many seconds that takes at
	// least: with less it wavers by chance, and the more it takes the longer parts stay unequal. Until then measureFirst units
	// must do.
	measureOwn   = 8
	measureTime  = 2
	measureFirst = 4
	// pull is what each takes of a window beyond its part so far. Without it parts keep the ratio that chance gave them at
	// first; with it ten equals come 5 % closer to each other at every measurement, and all together draw 5 % faster than
	// evenly, never more than is left.
	pull = 0.005
	// watchTime is how old a supply may be that later ones are held against: a rate that is known a little too low must not
	// hide what others draw.
	watchTime = 10 * time.Second
)

// forget drops the supply that was known, not who is present.
func (s *sharing) forget() { s.known, s.begun, s.rate = false, false, 0 }

// present says whether others draw. While no answers come nothing is known to have changed.
func (s *sharing) present(t moment) bool { return s.seen > 0 && min(t, s.told)-s.seen <= crowd }

// watch looks in an answer for what others drew of a supply that would else rise at rate.
func (m *Mirror) watch(r *reading, supply, rate float64) {
	s := &m.others
	if !s.known || rate > 0 && r.sent-s.leastAt > watchTime {
		s.least, s.leastAt, s.known = r.sureLo, r.received, true
	}
	s.told = max(s.told, r.received)
	if r.sureHi < m.atLeast(r, rate)-1 {
		s.seen = r.received
		s.least, s.leastAt = r.sureLo, r.received
	}
	if r.sent < m.newest {
		return
	}
	s.measure(r.received, supply, m.sends.total, rate)
	if s.present(r.received) {
		s.follow(r, m)
	}
}

// atLeast is what the supply should have come to when an answer's call left: it has risen since it was last looked at, unless
// the bucket was full.
func (m *Mirror) atLeast(r *reading, rate float64) float64 {
	s := &m.others
	expected := s.least + rate*secs(max(0, r.sent-s.leastAt)) - m.deniedSince(s.leastAt)
	if rate > 0 {
		return min(expected, m.ends.upTo(r.sent-1)+m.limitOr())
	}
	return expected
}

// measure finds out what part of all that is drawn is ours, from a supply that would else rise at rate, and what we have sent.
func (s *sharing) measure(t moment, supply, sent, rate float64) {
	if s.begun {
		dt := secs(t - s.at)
		s.taken += dt
		s.own += sent - s.sent
		s.others += rate*dt - (supply - s.supply)
	}
	s.begun, s.at, s.supply, s.sent = true, t, supply, sent
	if s.own < measureOwn || s.taken < measureTime {
		return
	}
	others := max(0, s.others)
	part, drain := s.own/(s.own+others), others/s.taken
	if s.part == 0 {
		s.part, s.drain = part, drain
	}
	s.part += (part - s.part) / 2
	s.drain += (drain - s.drain) / 2
	s.own, s.others, s.taken = 0, 0, 0
}

// draws is our part of the draw, and the units a second that others take; before the first measurement is done, what it
// has shown so far, or half of everything.
func (s *sharing) draws() (ours, drain float64) {
	switch {
	case s.part > 0:
		return s.part, s.drain
	case s.own >= measureFirst && s.taken > 0:
		others := max(0, s.others)
		return s.own / (s.own + others), others / s.taken
	}
	return 0.5, 0
}

// follow sets the pace for the rest of the window: of what is left over the time left, the part we took so far and a little
// more.
func (s *sharing) follow(r *reading, m *Mirror) {
	if edge, known, _ := m.edgeOf(); known && edge > r.sent {
		ours, _ := s.draws()
		s.rate = min(1, ours+pull) * r.left / secs(edge-r.sent)
	}
}

// pace is when n more may leave a window.
func (s *sharing) pace(t, last moment, n float64) moment {
	if !s.present(t) || s.rate <= 0 {
		return t
	}
	return last + seconds(n/s.rate)
}

// inProportion is when n units may leave a bucket that others draw on too. Every owner sees the same level, and the higher it
// is the faster each draws; so it settles where all together draw what flows in, and shares become equal. A power of the part
// below one pulls them together, and lets many owners settle at nearly the level of few.
//
// While nobody answers the level is foretold: what flows in less what others draw, but never less than our part of it. Others who have
// just drawn faster than it flows in have emptied the bucket, and must wait for it like us.
func (m *Mirror) inProportion(t moment, n, kept float64, net Network) moment {
	b, s := &m.bucket, &m.others
	ours, drain := s.draws()
	slope := max(b.rate-drain, max(ours, leastSlope)*b.rate)
	top := m.limitOr() - kept
	level := min(b.supply+slope*secs(max(0, t-b.at))-m.sends.total-kept, top)
	weight := math.Cbrt(ours*ours) * b.rate
	settles := min(m.limitOr()/2, max(restCalls*n, restLatency*b.rate*secs(net.Latency)), (m.limitOr()-n)/2)
	return t + seconds(ramp{level - n, top - n, slope, secs(max(0, t-m.last))}.reaches(settles*n/weight))
}

const (
	// leastSlope is the part of the refill that is at least taken to be ours when a level is foretold.
	leastSlope = 0.05
	// restCalls and restLatency are the level at which a lone owner would settle, in calls, and in latencies' worth of
	// refill: enough that what others draw unseen does not empty it.
	restCalls   = 8
	restLatency = 6
)

// ramp is a level above what a call needs, that grows at slope from spare up to top, and how long ago we last drew.
type ramp struct{ spare, top, slope, idle float64 }

// reaches is how many seconds from now the level times the time since our last draw comes to area.
func (r ramp) reaches(area float64) float64 {
	if r.top <= 0 { // a call takes all there can be
		return max(0, -r.spare/r.slope)
	}
	p := (r.spare + r.idle*r.slope) / r.slope
	q := (r.idle*r.spare - area) / r.slope
	x := -p/2 + math.Sqrt(max(0, p*p/4-q))
	if full := (r.top - r.spare) / r.slope; x > full {
		x = max(full, area/r.top-r.idle)
	}
	return max(0, x, -r.spare/r.slope)
}
