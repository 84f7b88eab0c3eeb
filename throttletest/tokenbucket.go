package throttletest

import (
	"math"
	"time"
)

// tokenBucket refills at a steady rate up to its burst. Counted as what is missing, it is GCRA: the theoretical arrival time of
// that algorithm is at + used/rate (ITU-T I.371). With a burst of 1 two calls closer than 1/rate are never both admitted.
type tokenBucket struct {
	limit, burst float64
	tied         bool // the burst is the limit, also after a change
	window       time.Duration
	used         float64 // missing from a full bucket; above burst after a debt
	at           time.Time
}

// rate is the refill in units per second.
func (b *tokenBucket) rate() float64 { return b.limit / b.window.Seconds() }

func (b *tokenBucket) refill(now time.Time) {
	if dt := now.Sub(b.at); dt > 0 {
		b.used = math.Max(0, b.used-b.rate()*dt.Seconds())
		b.at = now
	}
}

func (b *tokenBucket) wait(now time.Time, n float64) (time.Duration, bool) {
	b.refill(now)
	if fits(b.used, n, b.burst) {
		return 0, true
	}
	return seconds((b.used + n - b.burst) / b.rate()), fits(0, n, b.burst)
}

func (b *tokenBucket) take(now time.Time, n float64, _ *stay) time.Duration {
	b.refill(now)
	b.used += n
	return 0
}

func (b *tokenBucket) give(now, _ time.Time, n float64) {
	b.refill(now)
	b.used = math.Max(0, b.used-n)
}

func (b *tokenBucket) debt() float64 { return math.Max(0, b.used-b.burst) }

// refuse empties what there is and never goes into debt: a bucket cannot lock a caller out for good.
func (b *tokenBucket) refuse(now time.Time, n float64) {
	b.refill(now)
	b.used = math.Max(b.used, math.Min(b.burst, b.used+n))
}

func (b *tokenBucket) resize(now time.Time, limit float64) {
	b.refill(now)
	b.limit = limit
	if b.tied {
		b.burst = limit
	}
}

func (b *tokenBucket) state(now time.Time) level {
	b.refill(now)
	s := level{limit: b.burst, left: math.Max(0, b.burst-b.used), timed: true, window: seconds(b.burst / b.rate())}
	s.full = seconds(b.used / b.rate())
	if b.used > 0 {
		s.next = seconds(math.Max(0, math.Floor(s.left+crumb)+1-(b.burst-b.used)) / b.rate())
		s.next = min(s.next, s.full)
	}
	return s
}
