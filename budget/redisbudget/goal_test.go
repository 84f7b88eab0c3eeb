package redisbudget

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// goal is what a fleet is to reach.
type goal struct {
	used, jain, asks, over float64 // over: beside the one call
	refused                func(calls int) int
}

func none(int) int             { return 0 }
func onePerThousand(n int) int { return n / 1000 }

// met reports whether it is reached, whatever the machine did.
func (g *goal) met(v *verdict) bool {
	return v.used >= g.used && v.jain >= g.jain && v.asks <= g.asks && v.overshoot <= 1+g.over && v.refused <= g.refused(v.total.OK)
}

// disturbed reports whether the machine stood still for longer than a fleet can bear.
func (v *verdict) disturbed() bool { return v.total.Lag.Worst > lagBearable }

// play lets a fleet try, again if need be, up to three times in all: figures that are missed while the machine stands still are those of
// the machine. If it is so each time, a fleet may lack what that lost, and what it was held for after calls that piled up; but it
// exceeds the limit by no more than what piles up in that time.
func (g *goal) play(t *testing.T, try func() verdict) (v verdict) {
	t.Helper()
	for range 3 {
		if v = try(); g.met(&v) || !v.disturbed() {
			break
		}
		t.Log("the machine stood still, once more")
	}
	used, over, refused := g.used, 1+g.over, g.refused(v.total.OK)
	if v.disturbed() {
		used -= (v.total.Lag.Lost + v.total.Held).Seconds() / v.span.Seconds()
		over += fleetRate * (v.total.Lag.Worst - lagBearable).Seconds()
		refused += int(fleetRate * v.total.Lag.Lost.Seconds())
	}
	assert.GreaterOrEqual(t, v.used, used, "used")
	assert.LessOrEqual(t, v.overshoot, over, "overshoot")
	assert.LessOrEqual(t, v.refused, refused, "refused")
	assert.GreaterOrEqual(t, v.jain, g.jain, "fairness")
	assert.LessOrEqual(t, v.asks, g.asks, "asks per call")
	assert.Zero(t, v.total.Failed, v.total.Err)
	return v
}
