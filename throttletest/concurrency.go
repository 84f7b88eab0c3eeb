package throttletest

import (
	"math"
	"slices"
	"time"
)

// concurrency caps how many calls are at the server at once. A slot is held from the arrival until the last byte of the answer
// has left, so an open stream holds one.
type concurrency struct {
	limit float64
	stays []held
}

type held struct {
	*stay
	n float64
}

// used is what is held now; calls that have left are forgotten.
func (c *concurrency) used(now time.Time) (sum float64) {
	c.stays = slices.DeleteFunc(c.stays, func(h held) bool { return h.over(now) })
	for _, h := range c.stays {
		sum += h.n
	}
	return sum
}

// wait is known when enough of the calls inside have an end that is settled already.
func (c *concurrency) wait(now time.Time, n float64) (time.Duration, bool) {
	used := c.used(now)
	if fits(used, n, c.limit) {
		return 0, true
	}
	slices.SortFunc(c.stays, func(a, b held) int { return a.end.Compare(b.end) })
	for _, h := range c.stays {
		if h.end.IsZero() {
			continue
		}
		if used -= h.n; fits(used, n, c.limit) {
			return h.end.Sub(now), true
		}
	}
	return 0, false
}

func (c *concurrency) take(_ time.Time, n float64, s *stay) time.Duration {
	c.stays = append(c.stays, held{s, n})
	return 0
}

// give changes nothing: a slot comes back when its call leaves.
func (c *concurrency) give(_, _ time.Time, _ float64) {}

// refuse changes nothing: a refused call holds no slot.
func (c *concurrency) refuse(time.Time, float64) {}

func (c *concurrency) resize(_ time.Time, limit float64) { c.limit = limit }

func (c *concurrency) state(now time.Time) level {
	return level{limit: c.limit, left: math.Max(0, c.limit-c.used(now))}
}
