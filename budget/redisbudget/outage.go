package redisbudget

import (
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// outage is how a process goes on without Redis.
type outage struct {
	shares  []budget.Budget // its part of the budgets; nil unless Share
	probeAt time.Time       // when Redis may be asked again
	probes  int
}

// absence is what happened since the process went on by itself, for Redis to know when it is back.
type absence struct {
	since time.Time // zero for none
	spent []float64
}

// over takes off what Redis knows by now.
func (a *absence) over(told []float64) {
	a.since = time.Time{}
	accumulate(a.spent, told, -1)
}

const (
	// probeFirst and probeMost bound the time between two probes: soon enough that nobody notices a hiccup, rare enough not to be
	// in the way of a server that starts.
	probeFirst = 200 * time.Millisecond
	probeMost  = 2 * time.Second
	// probeSpread is the part of that time that is random, so that the processes do not all come back at once.
	probeSpread = 0.3
)

var errLate = errors.New("redisbudget: Redis has not answered in time (WithTimeout)")

// late is called when an ask takes long.
func (a *account) late(asked uint64) {
	a.mu.Lock()
	if a.flying && a.asks == asked {
		a.fail(time.Now(), errLate)
	}
	a.mu.Unlock()
	a.announce()
}

// fail makes the account go on by itself, or do so for longer.
func (a *account) fail(now time.Time, err error) {
	if a.outage == nil {
		a.outage = &outage{}
		if a.store.outage == Share {
			a.outage.shares = a.shares(now)
		}
		if a.absence.since.IsZero() {
			a.absence.since = now
		}
		a.news.add(err)
	}
	o := a.outage
	pause := min(probeMost, probeFirst<<min(o.probes, 10))
	o.probes++
	o.probeAt = now.Add(time.Duration(float64(pause) * (1 - probeSpread*rand.Float64())))
	a.arm(o.probeAt)
	a.news.changed = true
}

// shares are the budgets of one of several equal processes, each with its part of what was spent when Redis was last seen. They run on the
// server's clock.
func (a *account) shares(now time.Time) []budget.Budget {
	processes := a.store.least(a.view.live)
	seenAt := a.view.server(a.view.at)
	if a.view.epoch == "" {
		seenAt = now
	}
	var all []budget.Budget
	for i, p := range a.policies {
		share, err := budget.New(p.Share(1 / processes))
		if err != nil { // so little that it cannot be counted
			share = closed{}
		}
		used := most(p)
		if a.view.epoch != "" {
			used = a.view.seen[i].used
		}
		spend(share, p, seenAt, used/processes)
		all = append(all, share)
	}
	return all
}

// spend books what was used at seenAt. For a log it is spread over the window, as nobody knows better.
func spend(b budget.Budget, p budget.Policy, seenAt time.Time, used float64) {
	const pieces = 16
	if p.Algorithm != budget.SlidingLog {
		b.Take(seenAt, used)
		return
	}
	for i := range pieces {
		b.Take(seenAt.Add(-p.Window/pieces*time.Duration(pieces-1-i)), used/pieces)
	}
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
	case a.store.outage == Closed && covered:
		return at
	case a.store.outage == Closed:
		return latest(now, a.outage.probeAt)
	}
	clock := a.view.server(now)
	share := clock
	for i, b := range a.outage.shares {
		moment, ever := b.At(clock, need[i])
		if !ever { // more than the share can ever hold: that has to wait for Redis
			moment = clock.Add(latest(now, a.outage.probeAt).Sub(now) + time.Millisecond)
		}
		share = latest(share, moment)
	}
	mine := now.Add(share.Sub(clock))
	if covered && at.Before(mine) {
		return at
	}
	return mine
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// takeAlone spends from the share.
func (a *account) takeAlone(now time.Time, cost []float64) {
	accumulate(a.absence.spent, cost, 1)
	for i, b := range a.outage.shares {
		b.Take(a.view.server(now), cost[i])
	}
}

func (a *account) giveAlone(now time.Time, n []float64) {
	accumulate(a.absence.spent, n, -1)
	for i, b := range a.outage.shares {
		b.Give(a.view.server(now), n[i])
	}
}

// memory is what is believed to be spent in the current window of each budget, should Redis have lost it: what was seen last, and since
// then what this process spent, as often as there are processes.
func (a *account) memory(now time.Time) []float64 {
	all := make([]float64, len(a.policies))
	for i, p := range a.policies {
		all[i] = a.absence.spent[i] * a.store.least(a.view.live)
		if a.view.epoch != "" && windowOf(p, a.view.clock).Equal(windowOf(p, a.view.server(now))) {
			all[i] += a.view.seen[i].used
		}
		all[i] = math.Max(0, all[i])
	}
	return all
}

// windowOf is when the window of the clock began that t lies in.
func windowOf(p budget.Policy, t time.Time) time.Time {
	anchor := p.Anchor
	if anchor.IsZero() {
		anchor = time.Unix(0, 0)
	}
	phase := anchor.Sub(anchor.Truncate(p.Window))
	return t.Add(-phase).Truncate(p.Window).Add(phase)
}
