package throttle

import (
	"math"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// pair puts declared and announced limits that mean the same together: the mirror counts for both, and the lower limit is its cap. What the
// user declared only keeps its own count then, for the day on which the server says no more.
func (l *lane) pair() {
	for _, m := range l.mirrors {
		m.cap(math.Inf(1))
		m.known = false
	}
	l.eachDeclared(func(d *declared) {
		d.mirror = nil
		for _, m := range l.mirrors {
			if m.countsFor(d) && (m.proven || l.only(m, d)) {
				d.mirror = m
				m.cap(d.ours.Limit)
			}
		}
		for _, m := range l.mirrors {
			m.known = m.known || m.unit == d.unit && m != d.mirror && d.atOnce() <= m.limit+1 // which may be told without its fraction
		}
	})
}

// countsFor reports whether the mirror may count instead of d, unless the user said how to count. Where calls are charged when they end it can as soon
// as it is known for a bucket that holds what d allows, which may be told without its fraction.
func (m *announced) countsFor(d *declared) bool {
	switch {
	case d.policy.Algorithm != budget.Auto || d.policy.Burst > 0:
		return false
	case m.late:
		return m.unit == d.unit && m.steady && math.Floor(d.ours.Limit) == m.limit
	}
	return m.means(d)
}

// pairTolerance is how far the window of an announced limit, which may be measured, can be from a declared one that means the same.
const pairTolerance = 0.05

// means reports whether an announced quota may be the limit that d declares. While nothing has shown how long its window is, the longest
// reset so far is a lower bound.
func (m *announced) means(d *declared) bool {
	if m.unit != d.unit {
		return false
	}
	most := d.ours.Window + time.Duration(pairTolerance*float64(d.ours.Window))
	least := d.ours.Window - time.Duration(pairTolerance*float64(d.ours.Window))
	return m.window <= most+time.Second && (!m.proven || m.window >= least)
}

// only reports whether a quota whose window is not proven yet can be no other declared limit than d, nor d any other quota.
func (l *lane) only(m *announced, d *declared) bool {
	if m.limit == d.policy.Limit {
		return true
	}
	for _, other := range l.mirrors {
		if other != m && other.means(d) {
			return false
		}
	}
	only := true
	l.eachDeclared(func(other *declared) { only = only && (other == d || !m.means(other)) })
	return only
}

// cap bounds what is used of the quota by a declared limit, and by the share of it that is ours.
func (m *announced) cap(limit float64) {
	m.mirror.SetCap(min(limit, m.limit*m.lane.cfg.share))
}

// eachDeclared visits every declared budget.
func (l *lane) eachDeclared(f func(*declared)) {
	for _, d := range l.ofKey {
		f(d)
	}
	for _, own := range l.byRoute {
		for _, d := range own {
			f(d)
		}
	}
}
