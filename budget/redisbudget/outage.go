package redisbudget

import (
	"math"
	"slices"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// outage is how a process goes on without Redis.
type outage struct {
	err     error           // what went wrong last
	shares  []budget.Budget // its part of the budgets; nil unless Share
	breaker *breaker        // says when Redis may be asked again
	until   time.Time       // Redis is there, and this is over then; zero while it is not
}

// on reports whether Redis is away, as far as is known.
func (o *outage) on() bool { return o != nil && o.until.IsZero() }

// may reports whether Redis may be asked.
func (o *outage) may(now time.Time) bool { return o == nil || o.on() && o.breaker.allows(now) }

// comeBack ends the outage, once the other processes are back too: quiet from now.
func (a *account) comeBack(now time.Time, quiet time.Duration) {
	if quiet <= 0 {
		a.outage, a.served = nil, false // who waits has no slots yet
		a.news.add(nil)
		return
	}
	if a.outage.on() {
		a.absence.since, a.absence.quiet = now, true
	}
	a.outage.until = now.Add(quiet)
	a.arm(a.outage.until)
}

// absence is what happened since the process went on by itself, for Redis to know when it is back.
type absence struct {
	since time.Time // zero for none
	spent []float64
	trail [][]spending // when that was; not for a bucket
	quiet bool         // Redis was there, but others perhaps not yet: that ends as announced
}

// over takes off what Redis knows by now: what was told at a moment.
func (a *absence) over(told []float64, at time.Time) {
	a.since, a.quiet = time.Time{}, false
	accumulate(a.spent, told, -1)
	for i := range a.trail {
		a.trail[i] = slices.DeleteFunc(a.trail[i], func(s spending) bool { return !s.at.After(at) })
	}
}

// quietTime is how long it takes until all that work have found out that Redis is back: the longest pause between probes, and an
// attempt that a client of Redis repeats before it gives up.
const quietTime = 1200 * time.Millisecond

// late is called when an ask takes long.
func (a *account) late(asked uint64) {
	var found finding
	a.mu.Lock()
	if a.flying && a.asks == asked {
		found = a.fail(a.store.now(), a.explain(errLate), a.breaker(errLate))
	}
	a.mu.Unlock()
	a.store.company.spread(a, found)
	a.announce()
}

// breaker is the one to go by after an error: that of the store if it is Redis that fails, and one of its own if it is only this key.
func (a *account) breaker(err error) *breaker {
	if a.store.company.together && !ofKey(err) {
		return &a.store.company.breaker
	}
	if a.outage != nil && a.outage.breaker != &a.store.company.breaker {
		return a.outage.breaker
	}
	return new(breaker)
}

// fail makes the account go on by itself, or do so for longer.
func (a *account) fail(now time.Time, err error, by *breaker) (found finding) {
	known := a.outage.on()
	if a.outage == nil {
		a.outage = &outage{}
		if a.store.outage == Share {
			a.outage.shares = a.shares(a.unanswered(now))
		}
		a.news.add(err)
	}
	if !known && by == &a.store.company.breaker {
		found = finding{wentAway, err}
	}
	if a.absence.since.IsZero() {
		a.absence.since = now
	}
	o := a.outage
	o.err, o.breaker, o.until, a.absence.quiet = err, by, time.Time{}, false
	a.arm(by.fail(now))
	a.news.changed = true
	return found
}

// unanswered is since when Redis does not answer, as far as is known.
func (a *account) unanswered(now time.Time) time.Time {
	if a.flying && a.sent.Before(now) {
		now = a.sent
	}
	if !a.doubted.IsZero() && a.doubted.Before(now) {
		now = a.doubted
	}
	return now
}

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

// add notes what was spent.
func (a *absence) add(policies []budget.Policy, now time.Time, cost []float64) {
	accumulate(a.spent, cost, 1)
	for i, p := range policies {
		if !isBucket(p) && cost[i] != 0 {
			a.trail[i] = follow(a.trail[i], now, cost[i], p.Window)
		}
	}
}

// follow adds what was spent to what a window, and the one before, remember: to the sixteenth of it.
func follow(trail []spending, now time.Time, n float64, window time.Duration) []spending {
	trail = slices.DeleteFunc(trail, func(s spending) bool { return now.Sub(s.at) >= 2*window })
	part := window / 16
	if last := len(trail) - 1; last >= 0 && trail[last].at.Truncate(part).Equal(now.Truncate(part)) {
		trail[last] = spending{now, trail[last].n + n}
		return trail
	}
	return append(trail, spending{now, n})
}

func (a *account) giveAlone(now time.Time, n []float64) {
	less := make([]float64, len(n))
	accumulate(less, n, -1)
	a.absence.add(a.policies, now, less)
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

// trail is memory for a log: how long ago what was spent, or will be. What others spent since it was seen they tell when they come. Nobody knows
// without having seen it.
func (a *account) trail(now time.Time) (all []string) {
	for i, p := range a.policies {
		text := "-"
		if p.Algorithm == budget.SlidingLog && a.view.epoch != "" {
			text = ""
			for _, s := range a.view.seen[i].spent {
				text += pair(now.Sub(a.view.at)+s.age, s.n)
			}
			text += a.absence.text(i, now)
		}
		all = append(all, text)
	}
	return all
}

// own is what this process spent while it was away, likewise.
func (a *account) own(now time.Time) (all []string) {
	for i := range a.policies {
		all = append(all, a.absence.text(i, now))
	}
	return all
}

// text is a trail as the script reads it.
func (a *absence) text(i int, now time.Time) (text string) {
	for _, s := range a.trail[i] {
		text += pair(now.Sub(s.at), s.n)
	}
	return text
}

func pair(age time.Duration, n float64) string { return micros(age) + " " + amount(n) + " " }

// windowOf is when the window of the clock began that t lies in.
func windowOf(p budget.Policy, t time.Time) time.Time {
	anchor := p.Anchor
	if anchor.IsZero() {
		anchor = time.Unix(0, 0)
	}
	phase := anchor.Sub(anchor.Truncate(p.Window))
	return t.Add(-phase).Truncate(p.Window).Add(phase)
}
