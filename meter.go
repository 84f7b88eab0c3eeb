package throttle

import (
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// lateSlack is how much of a late timer a bucket makes up for. Timers are late by up to a few milliseconds on a busy machine, and a
// bucket that is full meanwhile would lose those tokens for good; more than that would be a burst nobody declared.
const lateSlack = 10 * time.Millisecond

// meter is one budget of a lane: declared by the user, or announced by the server.
type meter interface {
	// ready is when n units may leave; waiting is what all who wait want of this unit, n included. far when only an answer can tell.
	ready(now time.Time, n, waiting float64) (at time.Time, alone, ever bool)
	foreseen(now time.Time, n float64) time.Time // when they can be paid for beside calls under way; no bound; zero = now
	take(now, due time.Time, n float64)
	give(taken, now time.Time, n float64)  // of what was taken then by a call that has been answered
	amend(taken, now time.Time, n float64) // likewise, by one that has not, or was never sent
	what() *meterName
	state(now time.Time) budget.State
}

// meterName is what a meter is called, and what the calls that were settled had reserved of it and have used.
type meterName struct {
	name, unit     string
	source         Source
	reserved, used float64
}

// settled notes what a call had reserved, and what it has used.
func (m *meterName) settled(reserved, used float64) {
	m.reserved += reserved
	m.used += used
}

// overReservation is how many units were reserved for each that was used; 0 = unknown.
func (m *meterName) overReservation() float64 {
	if m.used <= 0 {
		return 0
	}
	return m.reserved / m.used
}

// String is how a budget is called in errors and events; empty for none.
func (m *meterName) String() string {
	if m == nil {
		return ""
	}
	if m.name != "" {
		return m.name
	}
	return m.unit
}

// declared is a limit of the user's: an exact law, and the margin the network asks for.
type declared struct {
	meterName
	lane   *lane
	policy budget.Policy // as declared
	ours   budget.Policy // our share of it
	law    budget.Budget
	bucket bool          // late timers are made up: only buckets lose by them
	fill   time.Duration // the whole limit, or the burst, comes back in this time
	spare  time.Duration // the part of that which may be given away for certainty, as one in so many
	since  uint64        // how many calls had left when it began to count
	guard  time.Duration // the most margin that this budget bears, see guardShare
	mirror *announced    // counts the same limit from what the server says: this one only keeps count

	outstanding *outstanding  // what calls under way will yet be charged; nil while none has been settled
	truth       budget.Budget // what the server has counted: charged with what each call has used, when it ended; nil likewise
}

// guardShare is how much of the time between two units a margin may take: without it a budget of 20,000/s without a burst would
// run at a hundredth of its rate.
const guardShare = 0.05

func newDeclared(l *lane, p budget.Policy) (*declared, error) {
	ours := p.Share(l.cfg.share).Resolve()
	law, err := budget.New(ours)
	if err != nil {
		return nil, err
	}
	d := &declared{lane: l, policy: p, ours: ours, law: law, since: l.sends}
	d.meterName = meterName{name: p.Name, unit: ours.Unit, source: SourceDeclared}
	d.measure()
	return d, nil
}

// measure derives what depends on the policy.
func (d *declared) measure() {
	p := d.ours
	d.fill = p.Window
	switch p.Algorithm {
	case budget.TokenBucket:
		d.fill = time.Duration(p.Burst / p.Limit * float64(p.Window))
	case budget.LeakyBucket:
		d.fill = p.Spacing()
	}
	d.bucket = p.Algorithm == budget.TokenBucket || p.Algorithm == budget.LeakyBucket
	if d.spare = cautious; d.bucket {
		d.spare = generous
	}
	d.guard = time.Duration(float64(d.fill) * guardShare)
}

// atOnce is the most that may leave in one moment.
func (d *declared) atOnce() float64 {
	if d.ours.Algorithm == budget.TokenBucket {
		return d.ours.Burst
	}
	return d.ours.Limit
}

func (d *declared) what() *meterName { return &d.meterName }

func (d *declared) ready(now time.Time, n, _ float64) (time.Time, bool, bool) {
	at, ever := d.law.At(now, n)
	if !ever || d.mirror != nil {
		return time.Time{}, false, ever
	}
	if !at.IsZero() {
		at = at.Add(min(d.guard, d.lane.net.over(d.fill, d.spare)))
	}
	return at, false, true
}

// doubt widens the margin after a refusal that nothing explains: the network may be more uneven than it seems.
func (d *declared) doubt() { d.guard = min(2*d.guard, d.fill/2) }

// take books a call at the moment it was due, so that a late timer costs no tokens.
func (d *declared) take(now, due time.Time, n float64) {
	if d.bucket {
		now = latest(due, now.Add(-lateSlack))
	}
	d.law.Take(now, n)
}

func (d *declared) give(taken, now time.Time, n float64)  { budget.GiveBack(d.law, taken, now, n) }
func (d *declared) amend(taken, now time.Time, n float64) { d.give(taken, now, n) }
func (d *declared) counted(t *ticket) bool                { return t.order > d.since }
func (d *declared) state(now time.Time) budget.State      { return d.law.State(now) }

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
