package throttletest

import (
	"math"
	"time"
)

// slidingCounter estimates a sliding log from two counts: that of the current clock window, and that of the one before, weighted
// by the part of it that the span behind now still covers. (Cloudflare, "Counting things, a lot of different things".)
type slidingCounter struct {
	tally
	before        float64 // used in the window before
	window, phase time.Duration
	start         time.Time
}

func (c *slidingCounter) roll(now time.Time) {
	start := windowStart(now, c.window, c.phase)
	if !start.After(c.start) {
		return
	}
	if start.Sub(c.start) == c.window {
		c.before = c.used
	} else {
		c.before = 0
	}
	c.start, c.used = start, 0
}

// weighted is what counts at now.
func (c *slidingCounter) weighted(now time.Time) float64 {
	passed := float64(now.Sub(c.start)) / float64(c.window)
	return c.used + c.before*(1-passed)
}

func (c *slidingCounter) wait(now time.Time, n float64) (time.Duration, bool) {
	c.roll(now)
	if fits(c.weighted(now), n, c.limit) {
		return 0, true
	}
	if !fits(0, n, c.limit) {
		return 0, false
	}
	into := now.Sub(c.start)
	if fits(c.used, n, c.limit) { // the window before fades far enough within this one
		return c.fade(c.before, c.limit-c.used-n) - into, true
	}
	return c.window + c.fade(c.used, c.limit-n) - into, true
}

// fade is how far into a window a count of the window before has shrunk to what is free.
func (c *slidingCounter) fade(count, free float64) time.Duration {
	if count <= free {
		return 0
	}
	return time.Duration(math.Ceil((1 - math.Max(0, free)/count) * float64(c.window)))
}

func (c *slidingCounter) take(now time.Time, n float64, _ *stay) time.Duration {
	c.roll(now)
	c.used += n
	return 0
}

func (c *slidingCounter) refuse(now time.Time, n float64) { c.take(now, n, nil) }

// give corrects the count of the window in which the call was charged, if it is one of the two that are kept.
func (c *slidingCounter) give(now, charged time.Time, n float64) {
	c.roll(now)
	switch {
	case n < 0 || !charged.Before(c.start):
		c.tally.give(n)
	case !charged.Before(c.start.Add(-c.window)):
		c.before = math.Max(0, c.before-n)
	}
}

func (c *slidingCounter) state(now time.Time) level {
	c.roll(now)
	into := now.Sub(c.start)
	s := level{limit: c.limit, left: math.Max(0, c.limit-c.weighted(now)), timed: true, window: c.window}
	s.next, _ = c.wait(now, math.Floor(s.left)+1)
	switch {
	case c.used > 0:
		s.full = 2*c.window - into
	case c.before > 0:
		s.full = c.window - into
	}
	return s
}
