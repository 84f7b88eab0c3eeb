package mirror

import (
	"time"

	"github.com/seed-18ca0a92/throttle/headers"
)

// Network is what the lane knows of the way to the server.
type Network struct {
	// Guard is the allowance for jitter: messages sent further apart than this are taken to arrive in order.
	Guard time.Duration
	// Latency is a typical time from a send to its answer.
	Latency time.Duration
}

// answer is how long to wait for an answer before asking again: never nothing at all, whatever the network.
func (n Network) answer() time.Duration { return max(n.Latency, time.Millisecond) }

// Answer is one answer's word on this quota.
type Answer struct {
	Sent, Received time.Time
	Cost           float64       // what the call took of this unit
	Refused        bool          // refused for rate
	Quota          headers.Quota // zero if the answer said nothing of this quota, or never came
}

// Mirror follows one quota of one key by what the server's answers say of it. It is pure: time is an argument, nothing sleeps,
// nothing locks. Not safe for concurrent use. Make one with New.
type Mirror struct {
	epoch time.Time

	sends   history // own units sent
	ends    history // own units whose call has ended, so that they certainly arrived before
	journal history // own units sent, coarsely, over a whole length of the quota
	last    moment  // latest own send

	limit  float64 // as announced; 0 is unknown
	cap    float64 // the most we may use of a limit; 0 is all
	length span
	law    law
	win    window
	buk    bucket
	fill   filling

	proven  bool   // an answer showed the log to be right
	caution moment // what refusals have added to the guard
	warned  moment
	others  sharing
	first   contact

	news   moment // when the newest answer that told something was sent
	heard  moment // when it came
	known  bool   // some answer told something
	silent int    // answers since that told nothing
	mute   bool   // the newest refusal is explained by what the server said is left
}

// law is how the server counts, as far as the answers have shown.
type law uint8

const (
	undecided law = iota // counted as a window: nothing is given back before the edge
	windowLaw            // a fixed window: all comes back at the edge
	bucketLaw            // refills steadily
	logLaw               // every unit comes back one length after it was spent
)

// New is a mirror that has heard nothing. Calls that left before it was made, and whose answers are still to come, are told to
// it by Spend, oldest first; so now is the send of the oldest of them.
func New(now time.Time) *Mirror { return &Mirror{epoch: now, win: newWindow()} }

func (m *Mirror) since(t time.Time) moment { return t.Sub(m.epoch) }

// Spend counts an own call of n units that leaves now.
func (m *Mirror) Spend(now time.Time, n float64) {
	t := m.since(now)
	m.turn(t)
	if m.law == bucketLaw && m.limit > 0 {
		m.buk.top(t, m.sends.total+m.limit)
	}
	m.sends.add(t, n)
	m.journal.add(t, n)
	m.last = max(m.last, t)
	m.win.sent(t)
}

// Settle corrects the count after a call whose true cost is n units less than was spent; a negative n is a debt.
func (m *Mirror) Settle(now time.Time, n float64) {
	t := m.since(now)
	m.sends.add(t, -n)
	m.journal.add(t, -n)
	m.ends.add(t, -n)
	m.buk.settle(n)
}

// SetCap bounds what is used of every window, or of a bucket's burst and refill, below what the server announces. Zero lifts it.
func (m *Mirror) SetCap(limit float64) { m.cap = limit }

// reserve is what is left unused of the limit because of the cap.
func (m *Mirror) reserve() float64 {
	if m.cap <= 0 || m.limit <= m.cap {
		return 0
	}
	return m.limit - m.cap
}

// flying is how many own units are in calls that have not ended.
func (m *Mirror) flying() float64 { return m.sends.total - m.ends.total }

// At is the earliest moment a call of n units may leave, as far as is known now; it may be past. A lone call must cross alone:
// nothing else may be sent until its answer is back. waiting is the units wanted by all who wait, this one included. When only
// an answer in flight can tell, at is when that answer is expected; so the lane asks again then, and at every answer.
// ever is false when the quota can never hold n.
func (m *Mirror) At(now time.Time, n, waiting float64, net Network) (at time.Time, lone, ever bool) {
	t := m.since(now)
	if m.limit > 0 && n > m.limit-m.reserve() {
		return now, false, false
	}
	when, lone := m.when(t, n, waiting, net)
	return m.epoch.Add(when), lone, true
}

func (m *Mirror) when(t moment, n, waiting float64, net Network) (moment, bool) {
	if !m.known {
		return t, true
	}
	m.turn(t)
	if m.first.tooMany(m.flying(), n) {
		return t + net.answer(), false
	}
	switch m.law {
	case bucketLaw:
		return m.whenBucket(t, n, waiting, net)
	case logLaw:
		return m.whenLog(t, n, net), !m.proven
	default:
		return m.whenWindow(t, n, net)
	}
}
