package redisbudget

import (
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
