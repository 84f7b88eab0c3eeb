package throttletest

import (
	"math"
	"time"

	"github.com/seed-18ca0a92/throttle/headers"
)

// Announce is how the server tells its limits in headers. Given several times, every answer carries several families.
// The zero Announce is X-RateLimit-* on every answer.
//
// The figures are those of the moment at which the call arrived, as a server has them that counts before it works; the Date is that
// of the answer. A dialect with room for one limit tells the first that counts requests.
type Announce struct {
	Dialect headers.Dialect
	On      Occasion
	// Share is the part of these answers that carry the headers, drawn by chance: 0 means all of them.
	Share float64
	// Reset is what the moment told stands for, Round what becomes of its fraction of a second.
	Reset Meaning
	Round Rounding
	// Freeze, if positive, is how long the server goes on telling the same Remaining before it looks again.
	Freeze time.Duration
	// Grain, if positive, rounds Remaining to the nearest multiple of it.
	Grain float64
	// NoWindow leaves out how long the window is. Without it the policies of the RateLimit dialects tell it, and others do where
	// two limits would have the same name otherwise (X-RateLimit-Limit-Requests-Day).
	NoWindow bool
}

// Occasion is a kind of answer.
type Occasion uint8

// The occasions.
const (
	OnEveryAnswer Occasion = iota
	OnRefusals
)

// Meaning is what a Reset stands for. It makes a difference where a limit comes back bit by bit; a clock window has one edge only.
type Meaning uint8

// The meanings.
const (
	UntilFull   Meaning = iota // everything is back (OpenAI, Anthropic)
	UntilNext                  // the next unit, or the oldest call of a log, is back (DigitalOcean)
	UntilWindow                // a clock window as long as the limit's ends, whether or not that gives anything back
)

// Rounding is what becomes of fractions of a second.
type Rounding uint8

// The roundings. A Retry-After or a Reset that is rounded down or to the nearest second comes too early.
const (
	Usual Rounding = iota // Exact where the dialect is finer than a second, else Up
	Up
	Down
	Nearest
	Exact // up to the millisecond, as far as the dialect can say that
)

// second rounds d to whole seconds, or up to milliseconds if exact.
func (r Rounding) second(d time.Duration) time.Duration {
	switch r {
	case Down:
		return d.Truncate(time.Second)
	case Nearest:
		return d.Round(time.Second)
	case Exact:
		return ceil(d, time.Millisecond)
	default:
		return ceil(d, time.Second)
	}
}

func ceil(d, unit time.Duration) time.Duration {
	if rest := d % unit; rest > 0 {
		return d - rest + unit
	}
	return d
}

// rounding is Round with Usual resolved for the dialect.
func (a Announce) rounding() Rounding {
	if a.Round != Usual {
		return a.Round
	}
	switch a.Dialect {
	case headers.OpenAI, headers.Discord, headers.XRateLimitMilli:
		return Exact
	default:
		return Up
	}
}

// tellsMoments says whether the dialect tells a point in time rather than a time from now.
func (a Announce) tellsMoments() bool {
	switch a.Dialect {
	case headers.XRateLimitEpoch, headers.XRateLimitMilli, headers.Anthropic, headers.GitHub, headers.Discord:
		return true
	default:
		return false
	}
}

// hasPolicies says whether the dialect has a header for the windows.
func (a Announce) hasPolicies() bool {
	switch a.Dialect {
	case headers.RateLimitTrio, headers.RateLimitDict, headers.RateLimitList:
		return true
	default:
		return false
	}
}

// tell is the Reset told at now on the server's clock for one that is d away. A moment is rounded as a moment.
func (a Announce) tell(clock time.Time, d time.Duration) time.Duration {
	if !a.tellsMoments() {
		return a.rounding().second(d)
	}
	into := time.Duration(clock.Nanosecond())
	return a.rounding().second(d+into) - into
}

// quota is what the headers say about one limit.
func (a Announce) quota(c *counter, now, clock time.Time) headers.Quota {
	s := c.law.state(now)
	left := c.frozen(now, a.Freeze, s.left)
	q := headers.Quota{
		Unit: c.announcedUnit(), Name: c.name,
		Limit: headers.Some(s.limit), Remaining: headers.Some(a.remaining(left)),
	}
	if s.window > 0 && s.window%time.Second == 0 { // no dialect has words for a fraction
		q.Window = headers.Some(s.window)
	}
	if s.timed {
		q.Reset = headers.Some(max(0, a.tell(clock, a.reset(c, s, now))))
	}
	return q
}

func (a Announce) remaining(left float64) float64 {
	if a.Grain > 0 {
		return math.Round(left/a.Grain) * a.Grain
	}
	return math.Floor(left + crumb)
}

func (a Announce) reset(c *counter, s level, now time.Time) time.Duration {
	switch a.Reset {
	case UntilNext:
		return s.next
	case UntilWindow:
		return windowStart(now, c.Limit.window, c.phase).Add(c.Limit.window).Sub(now)
	default:
		return s.full
	}
}

// carries says whether an answer with that luck carries the headers.
func (a Announce) carries(refused bool, luck float64) bool {
	return (a.On == OnEveryAnswer || refused) && (a.Share == 0 || luck < a.Share)
}

func (a Announce) check() error {
	if a.Dialect > headers.Discord {
		return errorf("announce: %d is not a dialect", a.Dialect)
	}
	if !isShare(a.Share) || !natural(a.Grain) {
		return errorf("announce: a share must lie in 0..1 and a grain must not be negative")
	}
	return notNegative("announce: freeze", a.Freeze)
}
