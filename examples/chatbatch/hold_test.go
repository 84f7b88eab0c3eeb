package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/job"
)

// Only when nothing moves any more, and will not for long, is the job stopped.
func TestWhenAJobIsStalled(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	empty := throttle.BudgetState{Unit: dailyRequests, Limit: 20, Window: 24 * time.Hour, Next: now.Add(5 * time.Hour)}
	later := throttle.BudgetState{Unit: dailyRequests, Limit: 20, Window: 24 * time.Hour, Next: now.Add(7 * time.Hour)}
	short := throttle.BudgetState{Unit: "requests", Limit: 5, Window: time.Minute, Next: now.Add(time.Minute)}
	full := throttle.BudgetState{Unit: "requests", Limit: 5, Window: time.Minute, Available: 5}
	key := func(waiting, flying int, budgets ...throttle.BudgetState) throttle.KeyState {
		return throttle.KeyState{Waiting: waiting, InFlight: flying, Budgets: budgets}
	}
	for _, c := range []struct {
		name   string
		states []throttle.KeyState
		until  time.Time
	}{
		{"nobody waits", []throttle.KeyState{key(0, 0, empty)}, time.Time{}},
		{"one is under way", []throttle.KeyState{key(9, 1, empty)}, time.Time{}},
		{"one of another key is under way", []throttle.KeyState{key(9, 0, empty), key(0, 1, full)}, time.Time{}},
		{"a short wait", []throttle.KeyState{key(9, 0, short)}, time.Time{}},
		{"another key goes on soon", []throttle.KeyState{key(9, 0, empty), key(3, 0, short)}, time.Time{}},
		{"stalled", []throttle.KeyState{key(9, 0, full, empty)}, empty.Next},
		{"two keys, the first to go on counts", []throttle.KeyState{key(9, 0, later), key(1, 0, empty)}, empty.Next},
		{"nothing is known", nil, time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &batch{brake: job.NewBrake(t.Context(), time.Hour)}
			defer b.brake.Release()
			b.stopIfStalled(now, c.states)
			assert.Equal(t, c.until, b.brake.Stop().Until)
			assert.Equal(t, !c.until.IsZero(), b.brake.Stop().Kind == job.Hold)
		})
	}
}
