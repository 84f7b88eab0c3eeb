package mirror

import (
	"math"
	"time"

	"github.com/seed-18ca0a92/throttle/headers"
)

// moment is a time as the mirror counts it: since the mirror was made.
type moment = time.Duration

// Network is what the lane knows of the way to the server.
type Network struct {
	// Guard is the allowance for jitter: calls that leave further apart than this are taken to arrive in order.
	Guard time.Duration
	// Latency is a typical time from a send to its answer.
	Latency time.Duration
}

// Answer is one answer's word on this quota.
type Answer struct {
	Sent, Received time.Time
	Cost           float64       // what the call took of this unit
	Refused        bool          // refused for rate
	Quota          headers.Quota // zero if the answer said nothing of this quota, or never came
}

// law is how the server counts, as far as its answers have shown.
type law uint8

const (
	undecided law = iota // taken for a window until an edge was crossed: nothing is given back before
	windowLaw            // a fixed window: all comes back at the edge
	bucketLaw            // refills steadily
	logLaw               // every unit comes back one length after it was spent
)

// Mirror follows one quota of one key by what the server's answers say of it. It is pure: time is an argument, nothing sleeps,
// nothing locks. Not safe for concurrent use. Make one with New.
type Mirror struct {
	epoch time.Time

	sends   history // own units sent
	ends    history // own units whose call has ended: they have surely arrived
	journal history // own units sent, less finely, over a whole length of the quota
	denied  history // own units refused; servers differ in whether they count them
	last    moment  // the latest own send

	limit  float64 // as announced; 0 is unknown
	cap    float64 // the most we may use of it; 0 is all
	length length
	law    law
	window window
	bucket bucket
	log    slidingLog

	contact contact
	filling filling
	grid    grid
	hollow  hollow
	brief   brief
	others  sharing
	reserve reserve
	word    word

	known   bool   // some answer told something
	told    bool   // and what is left, or when it comes back
	newest  moment // when the newest call left whose answer told something
	heard   moment // when the latest such answer came
	silent  int    // answers since that told nothing
	emptied bool   // the latest answer was a refusal, and said that too little was left
	late    late   // what a server has left that counts calls when they end
}

// New is a mirror that has heard nothing. Calls that left before it was made, and whose answers are still to come, are told to
// it by Spend, oldest first; so now is the send of the oldest of them.
func New(now time.Time) *Mirror {
	m := &Mirror{epoch: now}
	m.window.forget()
	return m
}

func (m *Mirror) since(t time.Time) moment { return t.Sub(m.epoch) }

// Spend counts an own call of n units that leaves now. A refused call stays counted: it was sent.
func (m *Mirror) Spend(now time.Time, n float64) {
	t := m.since(now)
	m.turn(t)
	m.overflow(t)
	m.spendAllowed(t, n)
	m.sends.add(t, n)
	m.journal.add(t, n)
	m.last = max(m.last, t)
}

// Last is when the latest own call left.
func (m *Mirror) Last() time.Time { return m.epoch.Add(m.last) }

// Settle corrects the count after a call whose true cost is n units less than was spent, and whose answer Learn has been told; a negative n is
// a debt.
func (m *Mirror) Settle(now time.Time, n float64) {
	m.Amend(now, n)
	m.ends.add(m.since(now), -n)
	m.bucket.settle(n)
}

// Amend corrects the count of a call that costs n units less than was spent, and was never sent or is only about to be.
func (m *Mirror) Amend(now time.Time, n float64) {
	t := m.since(now)
	m.sends.add(t, -n)
	m.journal.add(t, -n)
}

// SetCap bounds what is used of every window, or of a bucket's burst and refill, below what the server announces. Zero, or more
// than is announced, bounds nothing.
func (m *Mirror) SetCap(limit float64) { m.cap = limit }

// most is the most that can ever be used at once.
func (m *Mirror) most() float64 {
	switch {
	case m.limit <= 0:
		return math.Inf(1)
	case m.cap > 0:
		return min(m.limit, m.cap)
	}
	return m.limit
}

// kept is what is to stay unused of the limit when n units leave: what the cap and what refusals have set apart.
func (m *Mirror) kept(n float64) float64 {
	if m.limit <= 0 {
		return 0
	}
	most := m.most()
	return m.limit - most + min(m.reserve.units(m.heard), max(0, most-n))
}

// flying is how many own units are in calls that have not ended.
func (m *Mirror) flying() float64 { return m.sends.total - m.ends.total }

// hanging is the age from which a call's answer is not waited for any more: it may be minutes away, as that of a stream is. The call itself has
// long arrived then.
const hanging = 2 * time.Second

// aloft is how many own units are in calls whose answers may be expected soon.
func (m *Mirror) aloft(t moment) float64 {
	return m.sends.total - max(m.ends.total, m.sends.upTo(t-hanging))
}

// At is the earliest moment a call of n units may leave, as far as is known now, and never before now. A lone call must cross alone:
// nothing else may be sent until its answer is back. waiting is the units wanted by all who wait, this one included. When only
// an answer on its way can tell, at is when that answer is expected: the lane asks again then, and at every answer.
// ever is false when the quota can never hold n.
func (m *Mirror) At(now time.Time, n, waiting float64, net Network) (at time.Time, lone, ever bool) {
	t := m.since(now)
	if n > m.most() {
		return now, false, false
	}
	m.turn(t)
	when, lone := m.when(t, n, waiting, net)
	if when <= t {
		return now, lone, true
	}
	return m.epoch.Add(when), lone, true
}

// when is At in moments. Nothing is waited for beyond what the server itself has promised.
func (m *Mirror) when(t moment, n, waiting float64, net Network) (at moment, lone bool) {
	if at, lone = m.lawful(t, n, waiting, net); at > t {
		if by, known := m.overdueAt(t, n, net); known && by < at {
			return by, true
		}
	}
	return at, lone
}

// lawful is when by the law that the server is believed to have.
func (m *Mirror) lawful(t moment, n, waiting float64, net Network) (at moment, lone bool) {
	switch {
	case !m.known:
		return t, true
	case !m.contact.over() && m.contact.full(m.aloft(t), n):
		return m.atAnswer(t, net), false
	case m.law == bucketLaw:
		return m.whenBucket(t, n, waiting, net)
	case m.law == logLaw:
		return m.whenLog(t, n), !m.log.proven && n > m.free(n)
	default:
		return m.whenWindow(t, n, net)
	}
}

// atAnswer is when the next answer may be expected.
func (m *Mirror) atAnswer(t moment, net Network) moment {
	return t + min(max(net.Latency, time.Millisecond), hanging)
}
