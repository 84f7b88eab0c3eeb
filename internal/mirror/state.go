package mirror

import (
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// Window is the length the mirror believes the limit is counted over; for a bucket the time in which it fills.
func (m *Mirror) Window() (time.Duration, bool) {
	if m.law == bucketLaw && m.buk.rate > 0 && m.limit > 0 {
		return seconds(m.limit / m.buk.rate), true
	}
	return m.length.value, m.length.value > 0
}

// Explains says whether the newest refusal follows from what the server said is left: then At knows when to come back, and no
// hold is needed.
func (m *Mirror) Explains(now time.Time, n float64) bool { return m.mute }

// State describes the quota as it is believed to stand.
func (m *Mirror) State(now time.Time) budget.State {
	return budget.State{Limit: m.limit}
}

// Stale says whether the server has stopped telling of this quota.
func (m *Mirror) Stale(now time.Time) bool { return m.silent >= 20 }
