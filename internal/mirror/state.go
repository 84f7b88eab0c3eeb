package mirror

import (
	"math"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// silence is how many answers in a row may leave the quota out before it counts as no longer announced: some servers tell
// their limits only now and then.
const silence = 100

// Stale says whether the server has stopped telling of this quota.
func (m *Mirror) Stale() bool { return m.silent >= silence }

// Window is the length the mirror believes the limit is counted over; for a bucket the time in which it fills.
func (m *Mirror) Window() (time.Duration, bool) {
	if m.law == bucketLaw && m.bucket.rate > 0 && m.limit > 0 {
		return seconds(m.limit / m.bucket.rate), true
	}
	return m.length.value, m.length.value > 0
}

// Proven says whether Window is more than the longest reset seen so far: the server told it, or its answers have shown how it
// counts.
func (m *Mirror) Proven() bool { return m.length.told || m.law != undecided }

// Explains says whether the latest answer was a refusal that follows from what the server said is left, so that At knows when
// n units may leave and no hold is needed.
func (m *Mirror) Explains(now time.Time, n float64) bool {
	t := m.since(now)
	at, _ := m.when(t, n, n, Network{})
	return m.emptied && at > t
}

// State describes the quota as it is believed to stand. Limit and Window are zero if unknown.
func (m *Mirror) State(now time.Time) budget.State {
	t := m.since(now)
	m.turn(t)
	s := budget.State{Limit: m.limit}
	s.Window, _ = m.Window()
	if left := m.available(t); !math.IsInf(left, 1) {
		s.Available = max(0, left)
		s.Used = max(0, m.limit-m.kept(0)-left)
	}
	if next := m.next(t); s.Used > 0 && next > t {
		s.Next = m.epoch.Add(next)
	}
	return s
}

// available is what may be sent at t without waiting, as far as is known.
func (m *Mirror) available(t moment) float64 {
	switch m.law {
	case bucketLaw:
		return min(m.bucket.line(t)-m.sends.total, m.limitOr()) - m.kept(0)
	case logLaw:
		return m.limitOr() - m.kept(0) - (m.sends.total - m.journal.upTo(t-m.length.value))
	}
	if at, known, _ := m.edgeOf(); m.law == undecided && known && t >= at { // by the server's word everything is back, though nothing has proved it
		return m.limitOr() - m.kept(0) - (m.sends.total - m.sends.upTo(at))
	}
	return m.free(0)
}

// next is when available will grow.
func (m *Mirror) next(t moment) moment {
	switch m.law {
	case bucketLaw:
		if m.bucket.rate <= 0 {
			return 0
		}
		return t + seconds(1/m.bucket.rate)
	case logLaw:
		return m.journal.reached(m.journal.upTo(t-m.length.value)+1e-9) + m.length.value
	default:
		at, _, _ := m.edgeOf()
		return at
	}
}
