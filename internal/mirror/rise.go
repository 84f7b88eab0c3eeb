package mirror

import "math"

// mark2 remembers the least that the supply surely did not exceed, for comparison with answers to calls that left after that
// was known. An answer that is merely slow tells of an earlier time, when others had not yet drawn what they drew since; so it
// proves no rise.
type mark2 struct {
	settled   float64 // of answers that came before settledAt
	settledAt moment
	at        moment // when its call left
	closed    float64
	closedAt  moment
	closedOf  moment
	open      float64
	openOf    moment
}

func newHigh() mark2 {
	return mark2{settled: math.Inf(1), closed: math.Inf(1), open: math.Inf(1)}
}

func (h *mark2) add(r reading) {
	if r.sent >= h.closedAt {
		if h.closed < h.settled {
			h.settled, h.at = h.closed, h.closedOf
		}
		h.settledAt = h.closedAt
		h.closed, h.closedOf, h.closedAt = h.open, h.openOf, r.received
		h.open = math.Inf(1)
	}
	if r.sureHi < h.open {
		h.open, h.openOf = r.sureHi, r.sent
	}
}

func (h *mark2) rose(r reading, slack float64) bool {
	return r.sent >= h.settledAt && r.sureLo > h.settled+slack+1
}
