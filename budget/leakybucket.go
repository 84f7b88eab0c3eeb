package budget

import (
	"math"
	"time"
)

// leakyBucket counts by a bucket that drains at r = Limit/Window, and lets the next call in when it is empty: even spacing.
//
// Law: n units are followed by a gap of n/r, whatever came before. (Turner, "New directions in communications", 1986, with the bucket as a
// meter; in the words of the generic cell rate algorithm, a burst of one call.)
//
// Guarantee: at most r·t, and the last call, in any span t. A rest earns nothing, so there is never a burst. One call takes at most
// Limit units. A caller who always waits leaves nothing of r unused.
//
// A nanosecond is the grain of the clock, and n/r need not be a multiple of it: what At rounds up is made up for at the next
// call, so 3 per second is 3 per second, and 1e12 per second is a thousand per nanosecond.
type leakyBucket struct {
	p     Policy
	rate  float64   // units per second
	last  time.Time // when the latest call was taken; its refund cannot reach further back
	empty time.Time // when the bucket is empty, zero before the first call
	frac  float64   // nanoseconds to be added to empty, in [0, 1)
}

func newLeakyBucket(p Policy) *leakyBucket { return &leakyBucket{p: p, rate: p.rate()} }

func (b *leakyBucket) policy() Policy { return b.p }

func (b *leakyBucket) Wait(now time.Time, n float64) (time.Duration, bool) {
	at, ever := b.At(now, n)
	return waitUntil(at, ever, now)
}

func (b *leakyBucket) At(_ time.Time, n float64) (time.Time, bool) {
	if !(n <= b.p.Limit*slack) {
		return time.Time{}, false
	}
	if n <= 0 {
		return time.Time{}, true
	}
	return b.due(), true
}

// due is the first whole nanosecond at which the bucket is empty.
func (b *leakyBucket) due() time.Time {
	if b.frac > 0 {
		return b.empty.Add(1)
	}
	return b.empty
}

func (b *leakyBucket) Take(now time.Time, n float64) {
	if !(n > 0) {
		return
	}
	b.last = later(now, b.last)
	b.fill(b.last, n)
}

func (b *leakyBucket) Give(now time.Time, n float64) {
	if n < 0 {
		b.fill(now, -n)
		return
	}
	b.drain(n)
}

// giveBack gives nothing for any call but the latest: the gap before the next one is the latest call's own, and the gaps before are
// past.
func (b *leakyBucket) giveBack(taken, _ time.Time, n float64) {
	if !taken.Before(b.last) {
		b.drain(n)
	}
}

// fill adds n units at now. A bucket that ran empty before now starts from there.
func (b *leakyBucket) fill(now time.Time, n float64) {
	if now.After(b.due()) {
		b.empty, b.frac = now, 0
	}
	b.shift(bounded(n))
}

// drain takes n units out, but no more than would make the bucket empty at the latest call.
func (b *leakyBucket) drain(n float64) {
	b.shift(-bounded(n))
	if b.empty.Before(b.last) {
		b.empty, b.frac = b.last, 0
	}
}

// shift moves the moment at which the bucket is empty by the time that n units take.
func (b *leakyBucket) shift(n float64) {
	ns := n/b.rate*1e9 + b.frac
	whole := math.Floor(ns)
	b.frac = ns - whole
	b.empty = b.empty.Add(nanoseconds(whole))
}

func (b *leakyBucket) State(now time.Time) State {
	used, available := 0.0, b.p.Limit
	if b.due().After(now) {
		used, available = (b.empty.Sub(now).Seconds()+b.frac/1e9)*b.rate, 0
	}
	return stateOf(b, now, b.p.Limit, used, available)
}

func (b *leakyBucket) spent(now time.Time) []spend {
	if used := b.State(now).Used; used > 0 {
		return []spend{{now, used}}
	}
	return nil
}
