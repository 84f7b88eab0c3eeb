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

// stopIfStalled stops the job when calls wait, none is under way, and their budget gives nothing for too long.
func (b *batch) stopIfStalled(now time.Time, states []throttle.KeyState) {
	for _, s := range states {
		if s.Waiting == 0 || s.InFlight > 0 {
			continue
		}
		for _, budget := range s.Budgets {
			if wait := budget.Next.Sub(now); budget.Available < 1 && wait > maxHold {
				text := fmt.Sprintf("the %s are used up (%s)", budget.Unit, limitText(budget))
				b.brake.Pull(job.Stop{Kind: job.Hold, Text: text, Until: budget.Next})
			}
		}
	}
}
