package throttletest

import (
	"math/rand/v2"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// Foreign is somebody else who draws on the same limits, from the first call to them on: a call after each gap, and no retries.
// It holds no slot of a concurrency limit and is never banned.
type Foreign struct {
	Gap  Dist        // between two calls; its mean is positive
	Cost budget.Cost // of each; nil = one request
}

// foreigner is a Foreign at work.
type foreigner struct {
	Foreign
	rng               *rand.Rand
	next              time.Time
	admitted, refused int
}

// newForeigner is the one of a place, nil if there is none.
func (c *config) newForeigner(at place) *foreigner {
	if c.foreign == nil {
		return nil
	}
	return &foreigner{Foreign: *c.foreign, rng: luck(c.seed, "foreign "+at.key, at.resource)}
}

func (f *foreigner) begin(now time.Time) { f.next = now.Add(f.gap()) }

// gap is never zero, so that time goes on.
func (f *foreigner) gap() time.Duration { return max(1, f.Gap.draw(f.rng)) }

func (f *foreigner) call(p *pool, at time.Time) {
	f.next = at.Add(f.gap())
	if p.obstacle(at, f.Cost) != nil {
		f.refused++
		p.refuse(at, f.Cost)
		return
	}
	f.admitted++
	p.take(at, f.Cost, &stay{end: at})
}
