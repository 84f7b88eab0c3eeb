package budget

import (
	"math"
	"time"

	"golang.org/x/time/rate"
)

// tokenBucket counts by a bucket of Burst units that refills at r = Limit/Window and is full at first.
//
// Law: n may leave when the bucket holds n. Seen as a clock (the generic cell rate algorithm, ITU-T I.371): the bucket is full at a
// moment TAT, At is TAT + (n-Burst)/r, and a Take moves TAT by n/r, from now if TAT has passed.
//
// Guarantee: at most Burst + r·t in any span t. A caller who always waits leaves nothing of r unused, whatever the margin
// after At at which he takes, as long as the margin is worth less than Burst - n.
//
// The arithmetic is that of golang.org/x/time/rate, in whole tokens and with the time as an argument. What that package lacks
// stands beside it as one number, owed: the units spent that its limiter has not been charged with. That is the fraction of a token left
// over from amounts that are not whole; the debt; and, since charging the limiter is most of the work, what was taken since it was
// charged last. The limiter gets a burst higher by what may be owed, so that it goes on gathering what that eats. It is never asked
// about a moment before its last one: AllowN would move it back.
type tokenBucket struct {
	p    Policy
	rate float64 // units per second
	lim  *rate.Limiter
	// grain is how many units a token of lim stands for: 1, or as many more as a burst needs that an int of 32 bits does not hold.
	grain float64
	room  int       // lim's burst in tokens
	begun bool      // a call has come: before, the bucket is full, and has been for ever
	last  time.Time // the moment that lim stands at
	level float64   // units in lim at last
	owed  float64   // units to be taken off level
	full  time.Time // when the bucket was last seen full
}

const (
	// maxTokens is the largest burst in tokens that lim gets: with a batch as large, and as much as both for debt, it fits into 32 bits.
	maxTokens = 1 << 28
	// maxRoom is the largest burst in tokens that lim gets while there is debt. Where it does not do (debt of some bursts of 2^28 on
	// 32 bits), debt is paid off by that much only between one call and the next.
	maxRoom = math.MaxInt / 2
	// batchTokens is what may be owed before lim is charged, beside a burst: enough to make the charge cheap per unit.
	batchTokens = 64
)

func newTokenBucket(p Policy) *tokenBucket {
	b := &tokenBucket{p: p, rate: p.rate(), grain: 1}
	for p.Burst > maxTokens*b.grain {
		b.grain *= 2
	}
	b.room = b.roomFor(0)
	b.lim = rate.NewLimiter(rate.Limit(b.rate/b.grain), b.room)
	b.level = float64(b.room) * b.grain
	return b
}

// batch is how many units may be owed before lim is charged.
func (b *tokenBucket) batch() float64 { return b.p.Burst + batchTokens*b.grain }

// roomFor is the burst that lim needs, in tokens, while there is debt: beside the policy's burst also a batch, and one for the fraction.
func (b *tokenBucket) roomFor(debt float64) int {
	return int(min(math.Ceil((b.p.Burst+b.batch()+debt)/b.grain)+1, maxRoom))
}

func (b *tokenBucket) policy() Policy { return b.p }

func (b *tokenBucket) Wait(now time.Time, n float64) (time.Duration, bool) {
	at, ever := b.At(now, n)
	return waitUntil(at, ever, now)
}

func (b *tokenBucket) At(_ time.Time, n float64) (time.Time, bool) {
	if !(n <= b.p.Burst*slack) {
		return time.Time{}, false
	}
	if n <= 0 || !b.begun {
		return time.Time{}, true
	}
	return b.holds(n), true
}

// holds is the moment from which the bucket holds n units.
func (b *tokenBucket) holds(n float64) time.Time {
	return b.last.Add(span(n+b.owed-b.level, b.rate))
}

func (b *tokenBucket) Take(now time.Time, n float64) {
	switch {
	case !(n > 0):
	case !b.begun || b.owed+n > b.batch():
		b.move(now, n)
	case now.Before(b.holds(b.p.Burst)):
		b.owed += n
	case !b.takeFull(now, n):
		b.move(now, n)
	}
}

// takeFull takes n off a bucket that is full again soon after lim was charged, without charging it: what it has gathered beyond the burst is
// owed. It reports whether it could: where little is in the bucket, or much time has passed, sums would be off in digits
// that matter.
func (b *tokenBucket) takeFull(now time.Time, n float64) bool {
	since := now.Sub(b.last)
	gathered := b.level + b.rate*since.Seconds()
	owed := gathered - b.p.Burst + n
	if b.p.Burst < batchTokens || since > time.Second || owed > b.batch() || gathered >= float64(b.room)*b.grain {
		return false
	}
	b.owed, b.full = owed, now
	return true
}

func (b *tokenBucket) Give(now time.Time, n float64) { b.move(now, -n) }

// giveBack gives nothing when the bucket was full in the meantime: it would have been full then without that Take too.
func (b *tokenBucket) giveBack(taken, now time.Time, n float64) {
	if !b.full.After(taken) {
		b.move(now, -n)
	}
}

// move takes n units off, or puts them back if n is negative. What does not fit into the bucket is lost.
func (b *tokenBucket) move(now time.Time, n float64) {
	t := later(now, b.last)
	b.level = b.lim.TokensAt(t) * b.grain
	if most := b.level - b.p.Burst; b.owed <= most {
		b.owed, b.full = most, t
	}
	b.owed = max(b.owed+bounded(n), b.level-b.p.Burst)
	b.charge(t)
}

// charge takes the whole tokens that are owed from lim, as far as it has them. The rest is debt.
func (b *tokenBucket) charge(t time.Time) {
	tokens := math.Floor(min(b.owed, b.level) / b.grain)
	b.lim.AllowN(t, int(tokens)) // a negative number puts tokens back
	b.begun, b.last = true, t
	b.level -= tokens * b.grain
	b.owed -= tokens * b.grain
	if room := b.roomFor(math.Floor(b.owed/b.grain) * b.grain); room != b.room {
		b.lim.SetBurstAt(t, room)
		b.room = room
	}
}

func (b *tokenBucket) State(now time.Time) State {
	available := b.lim.TokensAt(now)*b.grain - b.owed
	return stateOf(b, now, b.p.Burst, b.p.Burst-available, available)
}

func (b *tokenBucket) spent(now time.Time) []spend {
	if used := b.State(now).Used; used > 0 {
		return []spend{{now, used}}
	}
	return nil
}
