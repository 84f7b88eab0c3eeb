package redisbudget

import (
	"math"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

const (
	// leaseTime is how much of its own rate a process leases ahead. A second makes Redis calls rare, and what a process that dies takes along
	// is no more than that.
	leaseTime = time.Second
	// gapTime is how long all the others' leases together may keep a process from its turn. It is also how old the news of a
	// process is that works: what nobody can know when Redis is gone, half a gap on average, stays unused.
	gapTime = 800 * time.Millisecond
	// maxLease bounds the work of one run of the script.
	maxLease = 64
	// horizon is how far ahead slots are reserved. Further ones would be lost on callers who give up meanwhile.
	horizon = 30 * time.Second
	// retryLeast is the least time between two asks when slots are beyond the horizon.
	retryLeast = time.Second
)

const (
	// lateness is how long after its moment a slot stays good: what timers and a busy machine take. The store counts it as
	// spent at the end of that time, so this costs a bucket nothing, and a log as much of each window.
	lateness = 100 * time.Millisecond
	// latenessPart bounds that cost: 1/200 of the shortest window.
	latenessPart = 200
	// latenessLeast is what even a short window has to bear.
	latenessLeast = 5 * time.Millisecond
	// idleLife is how long a slot stays good that nobody waits for yet.
	idleLife = time.Second
)

// pace is how many calls have left lately: a count that fades.
type pace struct {
	count float64
	at    time.Time
}

// paceTime is how fast it fades: several leases, so that their rhythm does not show.
const paceTime = 3 * time.Second

func (p *pace) add(now time.Time) {
	p.count = p.fade(now) + 1
	p.at = now
}

func (p *pace) fade(now time.Time) float64 {
	return p.count * math.Exp(-max(0, now.Sub(p.at).Seconds())/paceTime.Seconds())
}

// rate is in calls per second.
func (p *pace) rate(now time.Time) float64 { return p.fade(now) / paceTime.Seconds() }

// demand notes what is wanted, and asks for it when little of it is in hand. covered says that the head is served already.
func (a *account) demand(now time.Time, need []float64, waiting budget.Cost, covered bool) {
	calls := max(1, waiting.Of(budget.Requests))
	a.mean(need, waiting, calls)
	size := a.leaseSize(now, calls)
	if a.view.scarce {
		size = min(size, int(calls)) // others wait for what this one might not need
	}
	if a.flying || covered && 2*len(a.pool.slots) > size || now.Before(a.tryAt) {
		return // when an answer comes, all who wait are looked at again
	}
	copy(a.need, need)
	a.slots, a.queued = size, calls > 1
	a.lastSize, a.lastAt = size, now
	a.request(now)
}

// mean works out what a call behind the head costs on average.
func (a *account) mean(need []float64, waiting budget.Cost, calls float64) {
	for i, p := range a.policies {
		a.more[i] = need[i]
		if calls > 1 {
			a.more[i] = min(a.view.most[i], max(0, waiting.Of(p.Unit)-need[i])/(calls-1))
		}
	}
}

// leaseSize is how many slots to ask for: what this process uses up in leaseTime, as long as the others need not wait too long for their
// turn; one when it is idle. While calls queue and leases are soon used up, each is twice as large as the one before.
func (a *account) leaseSize(now time.Time, calls float64) int {
	most := float64(maxLease)
	for i, p := range a.policies {
		if a.more[i] > 0 {
			perSecond := p.Limit / p.Window.Seconds() / a.more[i]
			most = min(most, perSecond*gapTime.Seconds()/a.store.least(a.view.live))
		}
	}
	size := math.Ceil(a.pace.rate(now) * leaseTime.Seconds())
	if calls > 1 && now.Sub(a.lastAt) < leaseTime {
		size = max(size, min(calls, float64(2*a.lastSize)))
	}
	return int(max(1, min(most, size)))
}

// slotLife is how long after its moment a slot shall be good.
func (a *account) slotLife() time.Duration {
	if !a.queued && a.slots > 1 {
		return idleLife + 2*a.view.trip
	}
	life := lateness
	for _, p := range a.policies {
		if p.Algorithm != budget.TokenBucket && p.Algorithm != budget.LeakyBucket {
			life = min(life, max(latenessLeast, p.Window/latenessPart))
		}
	}
	return life + 2*a.view.trip
}
