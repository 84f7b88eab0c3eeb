package backoff

import (
	"math/rand/v2"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// What a zero field of a Policy stands for.
const (
	DefaultInitial    = 500 * time.Millisecond // long enough for a load balancer to pick another server, short enough to go unnoticed
	DefaultMax        = 60 * time.Second       // the length of the most common rate window: it is worth a look after that
	DefaultMultiplier = 2.0
)

// Policy is how long to step back before each retry. The zero value is ready to use; a Policy never changes and is safe for
// concurrent use.
//
// The interval starts at Initial, grows by Multiplier with each retry and stops at Max; Jitter then picks the delay at or below
// it. Because the pick comes after the cap, clients that have all arrived at Max are still spread. The zero Policy gives:
//
//	retry   interval   Full (default)   Equal          None
//	1       0.5 s      0.25 ..  0.5 s   0.25 ..  0.5   0.5
//	2       1 s        0.25 ..  1 s     0.5  ..  1     1
//	3       2 s        0.25 ..  2 s     1    ..  2     2
//	4       4 s        0.25 ..  4 s     2    ..  4     4
//	5       8 s        0.25 ..  8 s     4    ..  8     8
//	6       16 s       0.25 .. 16 s     8    .. 16     16
//	7       32 s       0.25 .. 32 s     16   .. 32     32
//	8       60 s       0.25 .. 60 s     30   .. 60     60
//	1000    60 s       0.25 .. 60 s     30   .. 60     60
type Policy struct {
	// Initial is the interval before the first retry; zero means DefaultInitial.
	Initial time.Duration
	// Min is the shortest delay that may be picked; zero means half of Initial. At most Initial.
	Min time.Duration
	// Max is the longest delay; zero means DefaultMax. At least Initial, at most 366 days.
	Max time.Duration
	// Multiplier is the growth of the interval from one retry to the next; zero means DefaultMultiplier, 1 a constant interval.
	Multiplier float64
	// Jitter is how the delay is picked from the interval; zero means Full.
	Jitter Jitter
}

// Delay is how long to wait before the given retry, with a random pick; the first retry is 1, and anything below counts as 1.
func (p Policy) Delay(retry int) time.Duration {
	return p.DelayAt(retry, rand.Float64())
}

// DelayAt is Delay with the random number as an argument: 0 picks the shortest delay, numbers near 1 the longest. What lies
// outside [0, 1] counts as the nearer end.
func (p Policy) DelayAt(retry int, u float64) time.Duration {
	p = p.withDefaults()
	interval := p.interval(retry)
	floor := max(0, p.Jitter.floor(p.Min, interval))
	return pick(floor, interval, u)
}

// withDefaults fills in what the zero fields stand for.
func (p Policy) withDefaults() Policy {
	if p.Initial == 0 {
		p.Initial = DefaultInitial
	}
	if p.Min == 0 {
		p.Min = p.Initial / 2
	}
	if p.Max == 0 {
		p.Max = DefaultMax
	}
	if p.Multiplier == 0 {
		p.Multiplier = DefaultMultiplier
	}
	return p
}

// interval walks the exponential curve of cenkalti/backoff up to the given retry. The walk ends at the cap, so it is short
// however large retry is, and nothing is multiplied beyond the cap. That package's own randomisation stays off: it takes no random
// number from outside, and it spreads around the interval, hence past Max.
func (p Policy) interval(retry int) time.Duration {
	curve := backoff.ExponentialBackOff{
		InitialInterval: p.Initial,
		Multiplier:      p.Multiplier,
		MaxInterval:     p.Max,
		Clock:           stillClock{},
	}
	curve.Reset()
	interval := curve.NextBackOff()
	for i := 1; i < min(retry, maxSteps) && interval < p.Max; i++ {
		interval = max(interval, curve.NextBackOff())
	}
	return max(0, min(interval, p.Max))
}

// maxSteps bounds the walk for policies that nobody validated: the slowest growth that Validate allows is at the highest Max in
// fewer steps (ln(366 d / 100 ns) / ln(1.01) = 3356, where 100 ns is the least Initial that grows by 1 %).
const maxSteps = 4096

// stillClock satisfies backoff.ExponentialBackOff, which asks for the time at every step although no limit on it is set.
type stillClock struct{}

func (stillClock) Now() time.Time { return time.Time{} }
