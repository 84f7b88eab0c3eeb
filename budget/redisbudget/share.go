package redisbudget

import (
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// shares are the budgets of one of several equal processes, each with its part of what is spent. They run on the server's clock. What
// was spent when Redis last answered is taken for what was spent when it ceased to: where all is used, that is so.
func (a *account) shares(ceased time.Time) []budget.Budget {
	processes := a.store.least(a.view.live)
	var all []budget.Budget
	for i, p := range a.policies {
		share, err := budget.New(p.Share(1 / processes))
		if err != nil { // so little that it cannot be counted
			share = closed{}
		}
		for _, s := range a.spent(i, p, ceased) {
			share.Take(s.at, s.n/processes)
		}
		all = append(all, share)
	}
	return all
}

// spending is units that were taken at a moment of the server's clock.
type spending struct {
	at time.Time
	n  float64
}

// spent is what was used of a budget when Redis ceased to answer. Who has never seen it takes all for used.
func (a *account) spent(i int, p budget.Policy, ceased time.Time) (all []spending) {
	clock := a.view.server(ceased)
	switch {
	case a.view.epoch == "" && p.Algorithm == budget.SlidingLog:
		return evenly(most(p), p.Window, clock)
	case a.view.epoch == "":
		return []spending{{clock, most(p)}}
	case isBucket(p):
		return []spending{{clock, a.view.seen[i].used}}
	}
	for _, s := range a.view.seen[i].spent {
		all = append(all, spending{a.view.clock.Add(-s.age), s.n})
	}
	return all
}

// evenly is units spread over the window that ends at a moment, as nobody knows better.
func evenly(n float64, window time.Duration, end time.Time) (all []spending) {
	const pieces = 16
	for i := range pieces {
		all = append(all, spending{end.Add(-window / pieces * time.Duration(pieces-1-i)), n / pieces})
	}
	return all
}

// closed is a budget that lets nothing out.
type closed struct{}

func (closed) Wait(time.Time, float64) (time.Duration, bool) { return 0, false }
func (closed) At(time.Time, float64) (time.Time, bool)       { return time.Time{}, false }
func (closed) Take(time.Time, float64)                       {}
func (closed) Give(time.Time, float64)                       {}
func (closed) State(time.Time) budget.State                  { return budget.State{} }

// alone is when a call may leave without Redis: with a slot in hand, or by the process's share.
func (a *account) alone(now time.Time, need []float64, at time.Time, covered bool) time.Time {
	switch {
	case a.store.outage == Open:
		return now
	case covered && (a.store.outage == Closed || !at.After(now)):
		return at
	case a.store.outage == Closed:
		return time.Time{} // the timer wakes who waits when Redis may be asked again
	}
	mine := a.ofShare(now, need)
	if !mine.IsZero() && !a.flows() {
		mine = latest(mine, a.outage.until) // what it spent is told: no more may be added
	}
	if covered && (mine.IsZero() || at.Before(mine)) {
		return at
	}
	return mine
}

// flows reports whether buckets alone decide. While the others come back these count as used what shares spend; windows and logs do not, and lose
// nothing by waiting.
func (a *account) flows() bool {
	for _, p := range a.policies {
		if !isBucket(p) {
			return false
		}
	}
	return true
}

// ofShare is when the share covers a need; zero if it never does, so that Redis has to.
func (a *account) ofShare(now time.Time, need []float64) time.Time {
	clock := a.view.server(now)
	at := clock
	for i, b := range a.outage.shares {
		moment, ever := b.At(clock, need[i])
		if !ever {
			return time.Time{}
		}
		at = latest(at, moment)
	}
	return now.Add(at.Sub(clock))
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// takeAlone spends from the share.
func (a *account) takeAlone(now time.Time, cost []float64) {
	a.absence.add(a.policies, now, cost)
	for i, b := range a.outage.shares {
		b.Take(a.view.server(now), cost[i])
	}
}

func (a *account) giveAlone(now time.Time, n []float64) {
	less := make([]float64, len(n))
	accumulate(less, n, -1)
	a.absence.add(a.policies, now, less)
	for i, b := range a.outage.shares {
		b.Give(a.view.server(now), n[i])
	}
}
