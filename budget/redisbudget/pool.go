package redisbudget

import (
	"slices"
	"time"
)

// slot is a moment at which a call may leave, with what it may take of each budget.
type slot struct {
	due, until time.Time
	left       []float64
}

// pool is the slots in hand, in the order in which they are due. The zero value is empty.
type pool struct{ slots []slot }

// add puts new slots in, none of which may be over before it begins.
func (p *pool) add(s ...slot) {
	p.slots = append(p.slots, s...)
	slices.SortStableFunc(p.slots, func(a, b slot) int { return a.due.Compare(b.due) })
}

// at is the earliest moment at which slots that are good at the same time cover a need, and whether there is one.
func (p *pool) at(need []float64) (time.Time, bool) {
	first := 0
	have := make([]float64, len(need))
	for i, s := range p.slots {
		for ; first < i && p.slots[first].until.Before(s.due); first++ {
			accumulate(have, p.slots[first].left, -1)
		}
		accumulate(have, s.left, 1)
		if covers(have, need) {
			return s.due, true
		}
	}
	return time.Time{}, false
}

// spend takes a cost from the slots, those due first before the others, and says what they lacked.
func (p *pool) spend(cost []float64) (short []float64) {
	short = slices.Clone(cost)
	for _, s := range p.slots {
		for i := range short {
			n := min(short[i], s.left[i])
			if n > 0 {
				short[i] -= n
				s.left[i] -= n
			}
		}
	}
	p.slots = slices.DeleteFunc(p.slots, func(s slot) bool { return nothing(s.left) })
	return short
}

// lapse takes out the slots that are over, and hands each to f.
func (p *pool) lapse(now time.Time, f func(slot)) {
	p.slots = slices.DeleteFunc(p.slots, func(s slot) bool {
		over := s.until.Before(now)
		if over {
			f(s)
		}
		return over
	})
}

// last is when the last slot is over; zero if there is none.
func (p *pool) last() (at time.Time) {
	for _, s := range p.slots {
		if s.until.After(at) {
			at = s.until
		}
	}
	return at
}

// total is what is in hand.
func (p *pool) total(i int) (n float64) {
	for _, s := range p.slots {
		n += s.left[i]
	}
	return n
}

func accumulate(sum, n []float64, sign float64) {
	for i := range sum {
		sum[i] += sign * n[i]
	}
}

// dust is what rounding may leave of an amount: less than any limit counts.
const dust = 1e-9

func covers(have, need []float64) bool {
	for i := range need {
		if have[i] < need[i]-dust*need[i] {
			return false
		}
	}
	return true
}

func nothing(n []float64) bool {
	for _, x := range n {
		if x > dust {
			return false
		}
	}
	return true
}
