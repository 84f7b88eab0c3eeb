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
	leastShare = 0.01        // calls per second
	oneStep    = time.Second // at most is made up for at once, after a time without calls

	// A share that nobody contests for so long is too small: then it grows in proportion.
	longQuiet   = 2 * time.Minute
	quietGrowth = 0.02 // per second
)

// share is the law of last resort, when no counter over our own calls explains what happens: others call too. It never dies.
type share struct {
	rate  float64
	grown instant // up to when the rate has grown
	cut   instant // when the last refused call left that cut it
	pacer pacer
}

var _ law = (*share)(nil)

func (h *share) judge(e *evidence) {
	if !e.refused() || e.at <= h.cut {
		return
	}
	h.rate = max(shareCut*h.rate, leastShare)
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
	if now > h.cut+longQuiet {
		h.rate *= 1 + quietGrowth*step
	}
	h.grown = now
}

func (h *share) heed(*evidence, hint)   {}
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
