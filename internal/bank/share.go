package bank

import (
	"math"
	"time"
)

// A share of a quota that others draw on too is sought by steps: cut by a fifth at a refusal, at most once in a round trip, and grown by
// what is the same for big and small shares or nearly so; shares become equal by that (Chiu and Jain, 1989). Growth with the square
// root of the rate keeps to it, and works for a hundred calls per second as for one. Ten processes in a bucket of 20/s see 17 refusals
// in 1000 calls with these steps; half the growth would save five of them, and take twice as long to make shares equal.
const (
	shareCut   = 0.8
	shareStep  = 0.012       // calls per second, each second, at a rate of 1/s
	leastShare = 0.05        // calls per second: one each 20 s burdens nobody, and finds out soon that things are better
	oneStep    = time.Second // at most is made up for at once, after a time without calls

	// A share that was not contested for six times as long as it usually takes is too small: then it grows in proportion, and ever faster.
	quietTimes   = 6
	shortQuiet   = 10 * time.Second
	longQuiet    = 2 * time.Minute
	quietGrowth  = 0.02 // per second, at first
	fastestShare = 0.2  // per second, at last
	gapWeight    = 8    // smooths the times between cuts

	// patienceWithWords is how many times as long a wait as the server names a share may impose.
	patienceWithWords = 10
)

// share is the law of last resort, when no counter over our own calls explains what happens: others call too. It never dies.
type share struct {
	rate  float64
	grown instant       // up to when the rate has grown
	cut   instant       // when the last refused call left that cut it
	gap   time.Duration // between two cuts, typically
	word  time.Duration // the wait that the server named last; zero if it never did
	pacer pacer
}

var _ law = (*share)(nil)

func (h *share) judge(e *evidence) {
	if !e.refused() || e.at <= h.cut {
		return
	}
	h.gap += (e.at - h.cut - h.gap) / gapWeight
	h.rate = max(shareCut*h.rate, h.least())
	h.cut = e.at + e.reach + e.guard
	h.pacer.empty(e.at, e.id(e.i)+1)
}

func (h *share) at(s *scene) instant {
	h.grow(s.now)
	return h.pacer.at(s, h.rate, 1)
}

// grow raises the rate while calls are waiting.
func (h *share) grow(now instant) {
	step := min(now-h.grown, oneStep).Seconds()
	h.rate += shareStep * math.Sqrt(h.rate) * step
	if quiet := h.quiet(now); quiet > 1 {
		h.rate *= 1 + min(quietGrowth*quiet*quiet, fastestShare)*step
	}
	h.grown = now
}

// quiet is for how long nobody has contested the share, as a part of the time after which that is remarkable.
func (h *share) quiet(now instant) float64 {
	remarkable := min(max(quietTimes*h.gap, shortQuiet), longQuiet)
	return float64(now-h.cut) / float64(remarkable)
}

// heed takes the server at its word, even if it is a rough one.
func (h *share) heed(_ *evidence, told hint) { h.word = told.wait }

// least is the rate that a share never falls below.
func (h *share) least() float64 {
	if h.word == 0 {
		return leastShare
	}
	return max(leastShare, 1/(patienceWithWords*h.word.Seconds()))
}

func (h *share) alive() bool            { return true }
func (h *share) windowed() bool         { return false }
func (h *share) promise(*scene) float64 { return h.rate }
func (h *share) asking(*scene) bool     { return true }
func (h *share) known() bool            { return false }
func (h *share) extent() float64        { return 0 }
func (h *share) surprise()              {}
func (h *share) forget()                {}
func (h *share) save() func()           { return func() {} }

func (h *share) state() State {
	return State{Kind: Share, Limit: 1, Window: seconds(1 / h.rate), Rate: h.rate}
}
