package budget

import (
	"math"
	"time"
)

// Units that servers count. Any other word is a unit too.
const (
	Requests     = "requests"
	Tokens       = "tokens"
	InputTokens  = "input_tokens"
	OutputTokens = "output_tokens"
)

// Policy declares a limit and how it is counted. It is comparable; its zero value declares nothing and is refused by Validate.
// Its text form is described at ParsePolicy.
type Policy struct {
	// Name tells policies apart where that matters; may be empty.
	Name string
	// Unit is what is counted; empty means Requests.
	Unit string
	// Limit is how many units may be spent per Window: above 0, at most 1e15. Fractions are fine. Since requests come whole, less
	// than one of them per Window is counted as one per Window/Limit: 0.0167 per second is one per 59.9 s.
	Limit float64
	// Window is what Limit is counted over: 1 ms to 36600 days.
	Window time.Duration
	// Burst is how many units a full token bucket holds: at least one request, at most 1e15. Zero means Limit for a TokenBucket, and
	// makes Auto a SlidingLog. The other algorithms have none.
	Burst float64
	// Algorithm is how the limit is counted; zero is Auto.
	Algorithm Algorithm
	// Anchor is a moment at which a FixedWindow begins; the zero Time means the Unix epoch. Days that begin at midnight in New
	// York in winter have an anchor at 05:00 UTC. The other algorithms have none.
	Anchor time.Time
}

// PerSecond is a policy of n requests per second.
func PerSecond(n float64) Policy { return Policy{Limit: n, Window: time.Second} }

// PerMinute is a policy of n requests per minute.
func PerMinute(n float64) Policy { return Policy{Limit: n, Window: time.Minute} }

// PerHour is a policy of n requests per hour.
func PerHour(n float64) Policy { return Policy{Limit: n, Window: time.Hour} }

// PerDay is a policy of n requests per 24 hours.
func PerDay(n float64) Policy { return Policy{Limit: n, Window: day} }

const day = 24 * time.Hour

// Of is the policy for another unit: PerMinute(200_000).Of(Tokens).
func (p Policy) Of(unit string) Policy {
	p.Unit = unit
	return p
}

// WithBurst is the policy with a burst of n units.
func (p Policy) WithBurst(n float64) Policy {
	p.Burst = n
	return p
}

// Using is the policy counted by another algorithm.
func (p Policy) Using(a Algorithm) Policy {
	p.Algorithm = a
	return p
}

// Share is the policy with part (above 0, at most 1) of its limit and of its burst, for whoever leaves the rest to others. A burst of
// requests does not fall below one. A part that is not above 0 makes a policy that Validate refuses.
func (p Policy) Share(part float64) Policy {
	p.Limit *= part
	if p.Burst > 0 {
		p.Burst = max(p.Burst*part, min(p.Burst, p.leastBurst()))
	}
	return p
}

// Resolve is the policy as it will be counted: with its unit, its algorithm and its burst filled in, and its window stretched where
// it would hold less than one request. Policies that resolve to the same are counted the same. It does not validate.
func (p Policy) Resolve() Policy {
	if p.Unit == "" {
		p.Unit = Requests
	}
	if p.Unit == Requests && p.Limit > 0 && p.Limit < 1 {
		p.Window, p.Limit = p.Spacing(), 1
	}
	if p.Algorithm == Auto {
		p.Algorithm = SlidingLog
		if p.Burst > 0 {
			p.Algorithm = TokenBucket
		}
	}
	if p.Algorithm == TokenBucket && p.Burst == 0 {
		p.Burst = p.Limit
	}
	return p
}

// Spacing is the time per unit in the long run: Window/Limit, rounded up to the nanosecond and cut off at the longest Duration. The
// slack keeps 1.0/49 per second at one per 49 s, whatever the last bit of the fraction.
func (p Policy) Spacing() time.Duration { return span(1/slack, p.rate()) }

// rate is the limit in units per second.
func (p Policy) rate() float64 { return p.Limit / p.Window.Seconds() }

// leastBurst is the least burst that lets a call pass: requests come whole, other units may not.
func (p Policy) leastBurst() float64 {
	if p.Unit == "" || p.Unit == Requests {
		return 1
	}
	return math.SmallestNonzeroFloat64
}
