package main

import (
	"fmt"
	"time"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/job"
)

// maxHold is the longest time in which nothing at all may happen: the throttle's own default. A job that would sleep longer, such as one whose requests of
// the day are used up, stops and says when to go on.
const maxHold = time.Hour

// stopIfStalled stops the job when nothing is under way, and all who wait do so for a budget that gives nothing for too long.
func (b *batch) stopIfStalled(now time.Time, states []throttle.KeyState) {
	var first throttle.BudgetState
	for _, s := range states {
		if s.InFlight > 0 {
			return
		}
		if s.Waiting == 0 {
			continue
		}
		empty, ok := stalled(now, s.Budgets)
		if !ok {
			return
		}
		if first.Next.IsZero() || empty.Next.Before(first.Next) {
			first = empty
		}
	}
	if !first.Next.IsZero() {
		text := fmt.Sprintf("the %s are used up (%s)", first.Unit, limitText(first))
		b.brake.Pull(job.Stop{Kind: job.Hold, Text: text, Until: first.Next})
	}
}

// stalled is the budget of a key that gives nothing for too long.
func stalled(now time.Time, budgets []throttle.BudgetState) (throttle.BudgetState, bool) {
	for _, s := range budgets {
		if s.Available < 1 && s.Next.Sub(now) > maxHold {
			return s, true
		}
	}
	return throttle.BudgetState{}, false
}
