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
)

// demand notes what is wanted, and asks for it when little of it is in hand. covered says that the head is served already.
func (a *account) demand(now time.Time, need []float64, waiting budget.Cost, covered bool) {
	calls := max(1, waiting.Of(budget.Requests))
	again := a.again(calls)
	if a.flying || again == 0 && now.Before(a.tryAt) {
		return // when an answer comes, all who wait are looked at again
	}
	a.mean(need, waiting, calls)
	size := a.leaseSize(now, calls)
	if a.view.scarce { // others wait for what this one might not need
		size = min(size, int(calls)-len(a.pool.slots))
	}
	size = max(size, again)
	if size < 1 || again == 0 && covered && !a.runsOut(now, size) || a.outage == nil && a.lingers(now) {
		return
	}
	copy(a.need, need)
	a.slots, a.queued = size, calls > 1
	a.served = float64(size+len(a.pool.slots)) >= calls
	a.lastSize, a.lastAt = size, now
	a.request(now)
}

// again is how many slots to ask for in place of those that this process was too late for. Those it gives back are free at once at a window or a
// log, which nobody else knows; what it has in hand may lie a window ahead.
func (a *account) again(calls float64) int {
	if fair, _ := a.fairSize(); fair > 0 {
		return 0
	}
	return min(a.missed, int(calls), maxLease)
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

// askAhead is how long before the last slot the next ones are asked for, beside a round trip: what a busy machine takes to get round to it.
const askAhead = 100 * time.Millisecond

// runsOut reports whether it is time for more slots although some are in hand: where slots are scarce when the last of them is
// near, so that as many calls as possible share an ask, and otherwise when half of them are spent.
func (a *account) runsOut(now time.Time, size int) bool {
	if a.view.scarce {
		return a.pool.slots[len(a.pool.slots)-1].due.Sub(now) < askAhead+a.view.trip
	}
	return 2*len(a.pool.slots) <= size
}

// lingerLeast is how long calls wait at the least for others to ask along with, where others take what there is: what timers may be late by
// costs nothing of the rate.
const lingerLeast = 100 * time.Millisecond

// lingers reports whether it is too soon for the next ask, and sees to it that there is one later.
func (a *account) lingers(now time.Time) bool {
	until := a.lastAt.Add(a.lingerTime(now))
	if !a.served || a.view.live < 2 || !now.Before(until) {
		return false
	}
	a.arm(until)
	return true
}

// lingerTime is how long after an ask the next one may follow: about as long as the store says, which sees to it that calls wait no longer for
// that than they would have to anyway. The asks are fewest for a given wait of all calls together when each process waits by the inverse
// root of its rate.
func (a *account) lingerTime(now time.Time) time.Duration {
	if fair, _ := a.fairSize(); fair == 0 || !a.view.scarce {
		return 0
	}
	equal := a.partSize() / gapTime.Seconds()
	weight := math.Sqrt(equal / max(a.pace.rate(now), equal/16))
	return min(gapTime, max(lingerLeast, time.Duration(weight*float64(a.view.linger))))
}

// leaseSize is how many slots to ask for: what this process uses up in leaseTime, or while they are good if nobody waits for them; one when it
// is idle. While calls queue and leases are soon used up, each is twice as large as the one before. Where all slots of a window may begin at once,
// it is what those who wait use, and those who come while slots are good.
func (a *account) leaseSize(now time.Time, calls float64) int {
	fair, most := a.fairSize()
	if fair == 0 {
		most = min(most, a.partSize())
	}
	if calls <= 1 {
		return int(max(1, min(most, math.Floor(a.pace.rate(now)*a.idleLife().Seconds()))))
	}
	size := math.Ceil(a.pace.rate(now) * leaseTime.Seconds())
	if now.Sub(a.lastAt) < leaseTime {
		size = max(size, min(calls, float64(2*a.lastSize)))
	}
	return int(max(1, min(most, size)))
}

// fairSize is how many slots each process may have at the least: so many that all together keep one from its turn for gapTime. It is 0 where
// no bucket decides; then the store does not share out what there is.
func (a *account) fairSize() (fair, most float64) {
	if !a.flows() {
		return 0, maxLease
	}
	return max(1, a.partSize()), maxLease
}

// partSize is an equal part of what the budgets grant in gapTime.
func (a *account) partSize() float64 {
	least := float64(maxLease)
	for i, p := range a.policies {
		if a.more[i] > 0 {
			perSecond := p.Limit / p.Window.Seconds() / a.more[i]
			least = min(least, perSecond*gapTime.Seconds()/a.store.least(a.view.live))
		}
	}
	return least
}

func isBucket(p budget.Policy) bool {
	return p.Algorithm == budget.TokenBucket || p.Algorithm == budget.LeakyBucket
}
