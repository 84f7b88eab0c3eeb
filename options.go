package throttle

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/seed-18ca0a92/throttle/backoff"
	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
)

// Option configures a Transport. A bad value, or a single-valued option given twice, fails in the constructor.
type Option func(*config) error

// The defaults, where no option says otherwise.
const (
	// defaultMaxHold is long enough for hourly quotas and short enough that nobody sleeps through a daily one unasked.
	defaultMaxHold = time.Hour
	// defaultRefusals is how many attempts the backoff after refusals needs to outlast the minute that most limits are counted over.
	defaultRefusals = 10
	// defaultFailures is the common compromise between a passing fault and a dead server.
	defaultFailures = 4
)

// defaultStepBack is the backoff after a refusal without a hint. Ten attempts of it take 64 s at the least, and no two are further apart than
// 32 s: a limit of a minute is outlasted, and not by much.
var defaultStepBack = backoff.Policy{Max: 32 * time.Second, Jitter: backoff.Equal}

// config is what the options fill. It never changes after the constructor, except for policies (see Transport.SetPolicies).
type config struct {
	policies   []budget.Policy
	policyFunc func(key string, req *http.Request) ([]budget.Policy, error)
	routes     routes
	key        func(*http.Request) string
	cost       func(*http.Request) budget.Cost
	usage      func(*http.Response, []byte) budget.Cost
	share      float64

	maxInFlight, maxInFlightTotal int
	maxWait, maxHold              time.Duration
	maxQueue                      int

	refusals, failures int            // attempts allowed when they end in a refusal, in a failure
	backoff            backoff.Policy // after failures
	stepBack           backoff.Policy // after refusals without a hint
	attemptTimeout     time.Duration
	idempotent         func(*http.Request) bool
	verdict            func(*http.Response, func() []byte) Verdict
	report             func(*headers.Report, *http.Response, func() []byte)
	skip               func(*http.Request) bool
	observeOnly        bool
	store              budget.Store

	observers observers
	logger    *slog.Logger

	given map[string]bool // the single-valued options seen so far
}

func newConfig(opts []Option) (*config, error) {
	c := &config{
		key: ByHost, share: 1, maxHold: defaultMaxHold,
		refusals: defaultRefusals, failures: defaultFailures, stepBack: defaultStepBack,
		given: map[string]bool{},
	}
	if err := Options(opts...)(c); err != nil {
		return nil, fmt.Errorf("throttle: %w", err)
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("throttle: %w", err)
	}
	if c.logger != nil {
		c.observers = append(c.observers, newLogObserver(c.logger))
	}
	return c, nil
}

// check looks at what only all options together show.
func (c *config) check() error {
	for _, p := range c.policies {
		if err := c.checkPolicy("WithPolicies", p); err != nil {
			return err
		}
	}
	for i := range c.routes {
		for _, p := range c.routes[i].policies {
			if err := c.checkPolicy("WithRoute "+c.routes[i].pattern, p); err != nil {
				return err
			}
		}
	}
	return c.checkNames(c.policies)
}

// checkPolicy refuses a policy that no budget can be made of, or whose own spacing exceeds the max hold: its calls could never leave.
func (c *config) checkPolicy(where string, p budget.Policy) error {
	if err := p.Validate(); err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	if space := p.Share(c.share).Spacing(); space > c.maxHold && p.Resolve().Unit == budget.Requests {
		return fmt.Errorf("%s: policy %v lets one call leave every %v, which is above the max hold of %v: raise WithMaxHold", where, p, space, c.maxHold)
	}
	return nil
}

// once marks a single-valued option as given.
func (c *config) once(name string) error {
	if c.given[name] {
		return fmt.Errorf("%s is given twice: leave one out (a preset such as llm.Preset gives several options)", name)
	}
	c.given[name] = true
	return nil
}

// Options is several options as one: what a preset returns.
func Options(opts ...Option) Option {
	return func(c *config) error {
		for _, o := range opts {
			if o == nil {
				return errors.New("an Option is nil")
			}
			if err := o(c); err != nil {
				return err
			}
		}
		return nil
	}
}

// WithPolicies declares limits. Each key gets budgets of its own; policies of one key with the same non-empty Name are one budget. All
// must agree before a call leaves. What the server announces can only make it slower.
func WithPolicies(p ...budget.Policy) Option {
	return func(c *config) error {
		c.policies = append(c.policies, p...)
		return nil
	}
}

// WithPolicyFunc declares limits per key, beside those of WithPolicies: tiers. f is asked once for each new key, and again after SetPolicies; an error fails the calls that have
// come until then, and the next one asks again. The request is that of the first of them, or nil under Acquire. f must be safe for concurrent use.
func WithPolicyFunc(f func(key string, req *http.Request) ([]budget.Policy, error)) Option {
	return single("WithPolicyFunc", f != nil, func(c *config) { c.policyFunc = f })
}

// WithRoute declares limits for part of an API. The pattern is "[METHOD[,METHOD] ][host]/path", with {wildcards} for one segment, and a
// trailing slash for the whole subtree. Any method may be named, as servers have their own; a host of one word ends with a dot ("payments./v1/"). Every
// route that matches applies, and adds to the policies of the key. A call that waits for a route holds up no other call. Budgets of policies without
// a Name are called by the pattern in states, events and errors.
func WithRoute(pattern string, p ...budget.Policy) Option {
	return func(c *config) error {
		r, err := parseRoute(pattern)
		if err != nil {
			return fmt.Errorf("WithRoute: %w", err)
		}
		if len(p) == 0 {
			return fmt.Errorf("WithRoute %s: no policy is given", pattern)
		}
		if len(c.routes) == maxRoutes {
			return fmt.Errorf("WithRoute %s: more than %d routes", pattern, maxRoutes)
		}
		r.policies = append([]budget.Policy(nil), p...)
		c.routes = append(c.routes, r)
		return nil
	}
}

// WithKey says whose quota a request draws on: requests of one key share all budgets. f must be safe for concurrent use, and fast: it is asked for
// each request. Default ByHost.
func WithKey(f func(*http.Request) string) Option {
	return single("WithKey", f != nil, func(c *config) { c.key = f })
}

// WithCost estimates what a request takes beyond itself, such as tokens; without an estimate it takes none of them until Settle says otherwise.
// A weight in requests replaces the one request; a cost that budget.Cost.Validate refuses fails the call. It is asked only while some budget counts such a unit, and again when the call leaves after a long
// wait: what was learned meanwhile counts then. It must not consume the body; use GetBody.
func WithCost(f func(*http.Request) budget.Cost) Option {
	return single("WithCost", f != nil, func(c *config) { c.cost = f })
}

// WithUsage reads the true cost from the last 64 KiB of an answer once its body ends, and settles by it. Nil = unknown: the estimate stands.
func WithUsage(f func(resp *http.Response, tail []byte) budget.Cost) Option {
	return single("WithUsage", f != nil, func(c *config) { c.usage = f })
}

// WithShare uses only part of every limit, declared or announced, and leaves the rest to others. 0 < part <= 1; default 1.
func WithShare(part float64) Option {
	return valued("WithShare", part > 0 && part <= 1, "above 0 and at most 1", part, func(c *config) { c.share = part })
}

// WithMaxInFlight caps the calls of one key between their sending and the end of their answer's body. At least 1; default no cap.
func WithMaxInFlight(n int) Option {
	return valued("WithMaxInFlight", n >= 1, "at least 1", n, func(c *config) { c.maxInFlight = n })
}

// WithMaxInFlightTotal caps the calls in flight over all keys. At least 1; default no cap.
func WithMaxInFlightTotal(n int) Option {
	return valued("WithMaxInFlightTotal", n >= 1, "at least 1", n, func(c *config) { c.maxInFlightTotal = n })
}

// WithMaxWait bounds all waits of a call added up. NoWait = fail at once rather than wait. Default none: the context decides, since a
// long queue is not a failure.
func WithMaxWait(d time.Duration) Option {
	return valued("WithMaxWait", d > 0 || d == NoWait, "positive, or NoWait", d, func(c *config) { c.maxWait = d })
}

// WithMaxHold bounds the wait a call would have with nobody ahead of it: a server's hold, an empty daily budget. Inclusive; default 1 h. A
// policy that lets one request leave less often than that is an error.
func WithMaxHold(d time.Duration) Option {
	return valued("WithMaxHold", d > 0, "positive", d, func(c *config) { c.maxHold = d })
}

// WithMaxQueue caps the calls that wait for one key. At least 1; default no cap.
func WithMaxQueue(n int) Option {
	return valued("WithMaxQueue", n >= 1, "at least 1", n, func(c *config) { c.maxQueue = n })
}

// WithMaxAttempts bounds the attempts of a call, the first included: 1 = never retry. Default 10 when they end in refusals, 4 when
// they end in failures; n sets both.
func WithMaxAttempts(n int) Option {
	return valued("WithMaxAttempts", n >= 1, "at least 1", n, func(c *config) { c.refusals, c.failures = n, n })
}

// WithBackoff sets how long to step back after a failure, or a refusal without a hint. Default: the zero backoff.Policy after failures, and
// after refusals one that outlasts a minute: 0.5 s doubling up to 32 s, of which the lower half is never cut.
func WithBackoff(p backoff.Policy) Option {
	return func(c *config) error {
		if err := p.Validate(); err != nil {
			return fmt.Errorf("WithBackoff: %w", err)
		}
		c.backoff, c.stepBack = p, p
		return c.once("WithBackoff")
	}
}

// WithAttemptTimeout bounds one attempt until its response headers are here. Waiting is not counted, and a body that flows is never cut. An attempt
// that takes longer is a failure, repeated like others; if it was the last, the call's error is ErrAttemptTimeout. Default none.
// AI services that are not asked to stream send the headers when the answer is complete: allow minutes there.
func WithAttemptTimeout(d time.Duration) Option {
	return valued("WithAttemptTimeout", d > 0, "positive", d, func(c *config) { c.attemptTimeout = d })
}

// WithIdempotent tells which requests may be repeated after they may have been processed, besides those of GET, HEAD, OPTIONS, TRACE, PUT and
// DELETE, and those with an Idempotency-Key or X-Idempotency-Key header. A refusal for rate needs no such permission: nothing was processed.
func WithIdempotent(f func(*http.Request) bool) Option {
	return single("WithIdempotent", f != nil, func(c *config) { c.idempotent = f })
}

// WithVerdict decides what an answer means, before the transport's own rules. peek reads up to 64 KiB of the body and leaves it whole for
// the caller; it is nil for event streams.
func WithVerdict(f func(resp *http.Response, peek func() []byte) Verdict) Option {
	return single("WithVerdict", f != nil, func(c *config) { c.verdict = f })
}

// WithReport edits what was read from an answer: a server's own headers, the unit of one host's resets, a wait told in the body. peek is
// as for WithVerdict.
func WithReport(f func(r *headers.Report, resp *http.Response, peek func() []byte)) Option {
	return single("WithReport", f != nil, func(c *config) { c.report = f })
}

// WithSkip passes the requests for which f is true through untouched and uncounted. Default none.
func WithSkip(f func(*http.Request) bool) Option {
	return single("WithSkip", f != nil, func(c *config) { c.skip = f })
}

// single is an option that sets a function or a pointer.
func single(name string, given bool, set func(*config)) Option {
	return func(c *config) error {
		if !given {
			return fmt.Errorf("%s: the value is nil", name)
		}
		set(c)
		return c.once(name)
	}
}

// valued is an option whose number has a range.
func valued(name string, ok bool, want string, got any, set func(*config)) Option {
	return func(c *config) error {
		if !ok {
			return fmt.Errorf("%s: want a value %s, got %v", name, want, got)
		}
		set(c)
		return c.once(name)
	}
}
