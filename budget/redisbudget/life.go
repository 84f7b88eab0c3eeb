package redisbudget

import (
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

const (
	// lateness is how long after its moment a slot stays good: what timers and a busy machine take. The store counts it as
	// spent no sooner than at the end of that time, so this costs a bucket nothing, and a log as much of each window.
	lateness = 100 * time.Millisecond
	// latenessPart bounds that cost: 1/200 of the shortest window.
	latenessPart = 200
	// latenessLeast is what even a short window has to bear.
	latenessLeast = 5 * time.Millisecond
	// guard is how much longer one call may be on its way to the upstream than another: one that finds no open connection, or a busy machine
	// at either end. A slot that is used at its very end arrives that much after it, and counts from then on. It costs a log as much of
	// each window, and a bucket nothing, whose burst makes up for it; so the script takes no more than 1/100 of a window.
	guard = 100 * time.Millisecond
	// idlePart bounds that for a log, which it costs as much: 1/50 of the window.
	idlePart = 50
	// idleMost bounds how long a slot stays good that nobody waits for yet.
	idleMost = time.Second
)

// idleLife is how long a slot is good that nobody waits for. What a bucket gains meanwhile must fit in beside what is in hand: else others
// would be given what this process still may take, so it is half of what the bucket holds. A log remembers a slot from its end on.
func (a *account) idleLife() time.Duration {
	life := idleMost
	for _, p := range a.policies {
		switch p.Algorithm {
		case budget.TokenBucket:
			life = min(life, max(lateness, time.Duration(p.Burst/p.Limit*float64(p.Window)/2)))
		case budget.LeakyBucket:
			life = min(life, lateness)
		case budget.SlidingLog:
			life = min(life, max(latenessLeast, p.Window/idlePart))
		}
	}
	return life
}

// slotLife is how long after its moment a slot shall be good.
func (a *account) slotLife() time.Duration {
	if !a.queued && a.slots > 1 {
		return a.idleLife() + a.view.usual
	}
	return a.queueLife() + a.view.usual
}

// queueLife is how long a slot is good that somebody waits for.
func (a *account) queueLife() time.Duration {
	life := lateness
	for _, p := range a.policies {
		if !isBucket(p) {
			life = min(life, max(latenessLeast, p.Window/latenessPart))
		}
	}
	return life
}
