package budget

import (
	"math"
	"time"
)

// slidingCounter estimates a sliding log from two numbers: what was counted in the current window of the clock, and in the one
// before, of which the part counts that the sliding window still covers if its units came evenly (Cloudflare, "How we built rate limiting
// capable of scaling to millions of domains", 2017). Windows begin at the Unix epoch and every Window after it.
//
// Law: n may leave when prev·(1 - f) + cur + n ≤ Limit, f being the part of the current window that has passed.
//
// Guarantee: at most Limit in each window of the clock, and less than 2·Limit in any span of Window: the worst is a full window
// that was filled at its end, followed by one that is filled as the first fades out. A caller who always waits with calls of n gets
// Limit - n per Window in the long run (n in two, if that is less): the last call would fit only when the window before has
// faded out altogether, and then the next one begins. Debt fades out with the windows.
//
// The estimate never rises by itself, also not across an edge, so there is one moment from which n may leave.
type slidingCounter struct {
	p     Policy
	frame frame
}

func newSlidingCounter(p Policy) *slidingCounter {
	return &slidingCounter{p: p, frame: newFrame(p.Window, p.Anchor)}
}

func (c *slidingCounter) policy() Policy { return c.p }

func (c *slidingCounter) Wait(now time.Time, n float64) (time.Duration, bool) {
	at, ever := c.At(now, n)
	return waitUntil(at, ever, now)
}

func (c *slidingCounter) At(_ time.Time, n float64) (time.Time, bool) {
	room := c.p.Limit*slack - n
	switch cur := c.frame.cur.value(); {
	case !(room >= 0):
		return time.Time{}, false
	case n <= 0:
		return time.Time{}, true
	case cur > room:
		return c.frame.end().Add(c.faded(cur, c.p.Limit-n)), true
	case c.frame.prev > room-cur:
		return c.frame.start.Add(c.faded(c.frame.prev, c.p.Limit-n-cur)), true
	}
	return time.Time{}, true
}

// faded is how long after an edge the count of the window before has faded from n to room. There is no slack in it: at the edge of
// a long window, its few bits would be nanoseconds.
func (c *slidingCounter) faded(n, room float64) time.Duration {
	return nanoseconds(math.Ceil((1 - max(0, room)/n) * float64(c.p.Window)))
}

func (c *slidingCounter) Take(now time.Time, n float64) {
	if n > 0 {
		c.frame.take(now, n)
	}
}

// Give takes the units off the current window first.
func (c *slidingCounter) Give(now time.Time, n float64) {
	if n < 0 {
		c.frame.take(now, -n)
		return
	}
	c.frame.roll(now)
	c.giveBefore(c.frame.give(bounded(n)))
}

func (c *slidingCounter) giveBack(taken, now time.Time, n float64) {
	c.frame.roll(now)
	switch {
	case !taken.Before(c.frame.start):
		c.frame.give(bounded(n))
	case !taken.Before(c.frame.start.Add(-c.p.Window)):
		c.giveBefore(bounded(n))
	}
}

// giveBefore uncounts n units of the window before.
func (c *slidingCounter) giveBefore(n float64) { c.frame.prev = max(0, c.frame.prev-n) }

func (c *slidingCounter) State(now time.Time) State {
	f := c.frame
	f.roll(now)
	left := 1.0
	if now.After(f.start) {
		left -= now.Sub(f.start).Seconds() / c.p.Window.Seconds()
	}
	used := f.prev*left + f.cur.value()
	return stateOf(c, now, c.p.Limit, used, c.p.Limit-used)
}

func (c *slidingCounter) spent(now time.Time) []spend {
	f := c.frame
	return f.spent(now)
}
