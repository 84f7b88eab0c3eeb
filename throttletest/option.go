package throttletest

import (
	"math"
	"net/http"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
)

// Option is a part of an order for an upstream. A bad value is an error of New; of an option that sets one value, the last holds.
type Option func(*config) error

// WithLimits adds limits to all calls that no resource takes. A call passes if all of them admit it; then all are charged at once.
func WithLimits(limits ...Limit) Option {
	return func(c *config) error {
		rest := &c.resources[len(c.resources)-1]
		rest.limits = append(rest.limits, limits...)
		return checkLimits(limits)
	}
}

// WithResource gives the calls that match limits of their own; the first matching resource takes a call, and its limits are
// announced under its name where they have none. An empty set of limits makes these calls free.
func WithResource(name string, match func(*http.Request) bool, limits ...Limit) Option {
	return func(c *config) error {
		if match == nil {
			return errorf("resource %q: match is nil", name)
		}
		r := resource{name: name, match: match}
		for _, l := range limits {
			if l.name == "" {
				l.name = name
			}
			r.limits = append(r.limits, l)
		}
		last := len(c.resources) - 1
		c.resources = append(c.resources[:last:last], r, c.resources[last])
		return checkLimits(limits)
	}
}

func checkLimits(limits []Limit) error {
	for _, l := range limits {
		if err := l.check(); err != nil {
			return errorf("limits: %w", err)
		}
	}
	return nil
}

// WithKey gives every key limits and bans of its own, such as one for each credential. Without it, all calls share them.
func WithKey(f func(*http.Request) string) Option {
	return func(c *config) error {
		if f == nil {
			return errorf("key: the function is nil")
		}
		c.key = f
		return nil
	}
}

// WithDialect announces the limits on every answer in that dialect, in its usual manner.
func WithDialect(d headers.Dialect) Option { return WithAnnounce(Announce{Dialect: d}) }

// WithAnnounce announces the limits; without it and WithDialect no answer carries any quota.
func WithAnnounce(a Announce) Option {
	return func(c *config) error {
		c.announces = append(c.announces, a)
		return a.check()
	}
}

// WithHint sets how a refusal says how long to wait; without it in whole seconds, rounded up.
func WithHint(form Hint, round Rounding) Option {
	return func(c *config) error {
		c.hint, c.hintRound = form, round
		return nil
	}
}

// WithRefusalStatus sets the status of refusals; without it 429.
func WithRefusalStatus(code int) Option {
	return func(c *config) error {
		if !isStatus(code) {
			return errorf("refusal status %d: it must lie in 200..599", code)
		}
		c.refusal = code
		return nil
	}
}

// WithClockSkew sets the server's clock ahead of ours, or behind if negative. Date and every moment that is told follow it.
func WithClockSkew(d time.Duration) Option {
	return func(c *config) error { c.skew = d; return nil }
}

// WithLatency sets how long calls take.
func WithLatency(l Latency) Option {
	return func(c *config) error { c.latency = l; return l.check() }
}

// WithSeed sets the seed of everything that is left to chance; without it 0. There is no other source of chance.
func WithSeed(seed uint64) Option {
	return func(c *config) error { c.seed = seed; return nil }
}

// WithOutputTokens sets how long answers to AI calls are: log-normal with that mean (in tokens) and that standard deviation of
// the logarithm, at least 1 and at most what the call allows. Without it 16 and 0.
func WithOutputTokens(mean, sigma float64) Option {
	return func(c *config) error {
		if !positive(mean) || sigma < 0 || sigma > 5 || math.IsNaN(sigma) {
			return errorf("output tokens: mean %v must be positive, sigma %v in 0..5", mean, sigma)
		}
		c.output = tokens{mean, sigma}
		return nil
	}
}

// WithCharge sets which tokens of an AI call are charged, and when; without it ChargeMax.
func WithCharge(how Charge) Option {
	return func(c *config) error { c.charge = how; return nil }
}

// WithCost charges what f says, once, on arrival, instead of what the body of an AI call asks for. f may be called at any time
// and from several goroutines; body is the first megabyte.
func WithCost(f func(r *http.Request, body []byte) budget.Cost) Option {
	return func(c *config) error {
		if f == nil {
			return errorf("cost: the function is nil")
		}
		c.cost = f
		return nil
	}
}

// WithAnswer answers admitted calls with what f gives, as JSON; where it gives nil the answer is the usual one. It may be called
// from several goroutines; body is the first megabyte.
func WithAnswer(f func(r *http.Request, body []byte) []byte) Option {
	return func(c *config) error {
		if f == nil {
			return errorf("answer: the function is nil")
		}
		c.answer = f
		return nil
	}
}

// WithOutage adds a span in which the server refuses calls whatever they cost.
func WithOutage(o Outage) Option {
	return func(c *config) error {
		c.outages = append(c.outages, o)
		return o.check()
	}
}

// WithBan punishes hammering.
func WithBan(b Ban) Option {
	return func(c *config) error { c.ban = b; return b.check() }
}

// WithForeign adds somebody else who draws on the limits, on those of every key and resource alike.
func WithForeign(f Foreign) Option {
	return func(c *config) error {
		c.foreign = &f
		if f.Gap.Mean() <= 0 {
			return errorf("foreign: the mean gap %v must be positive", f.Gap.Mean())
		}
		return f.Gap.check("foreign: gap")
	}
}

// WithFaults asks f about every call as it arrives; n counts the arrivals from 1. It returns nil for a call without a fault.
// It may be called from several goroutines.
func WithFaults(f func(n int, r *http.Request) *Fault) Option {
	return func(c *config) error {
		if f == nil {
			return errorf("faults: the function is nil")
		}
		c.faults = f
		return nil
	}
}

// WithLog sets how many arrivals are remembered one by one; without it about a million. Later ones are only counted.
func WithLog(n int) Option {
	return func(c *config) error {
		if n < 0 {
			return errorf("log: %d is negative", n)
		}
		c.logged = n
		return nil
	}
}
