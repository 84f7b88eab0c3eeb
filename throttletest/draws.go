package throttletest

import (
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// draws is everything about one call that is left to chance. All of it is drawn when the call is made, so what the limits decide
// does not change the luck of the calls after it.
type draws struct {
	out, back time.Duration // one way each
	service   time.Duration
	output    float64 // tokens that the answer would like to have
	announce  float64 // in [0, 1): carries this answer headers?
	outage    float64 // in [0, 1): is this call hit by a partial outage?
}

// luck is a source of chance for one call. The same seed and the same id, for the same time the same id is seen, give the same
// luck, whatever the order in which goroutines come to run.
func luck(seed uint64, id string, try int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(id))
	return rand.New(rand.NewPCG(seed^uint64(try)<<32, h.Sum64()))
}

func (c *config) draw(r *rand.Rand) draws {
	l := c.latency
	return draws{
		out:      l.Network + l.Jitter.draw(r),
		back:     l.Network + l.Jitter.draw(r),
		service:  l.Service.draw(r),
		output:   max(1, drawLogNormal(r, c.output.mean, c.output.sigma)),
		announce: r.Float64(),
		outage:   r.Float64(),
	}
}
