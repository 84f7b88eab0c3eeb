package redisbudget

import (
	"fmt"
	"strings"
	"time"
)

// Option changes what New makes.
type Option func(*config) error

type config struct {
	prefix    string
	timeout   time.Duration
	outage    Outage
	processes int
}

// Outage says what a process does while Redis is away.
type Outage uint8

const (
	// Share, the zero value, goes on with an equal share: every limit divided by the number of processes that were last seen.
	// All of them together keep the limit, as long as there are no more of them than before.
	Share Outage = iota
	// Closed lets nothing leave. It is for quotas that must not be exceeded at any price, such as money.
	Closed
	// Open lets everything leave at once: for quotas that somebody else enforces too.
	Open
)

var outageNames = [...]string{"share", "closed", "open"}

// String is the name of the mode.
func (o Outage) String() string {
	if int(o) < len(outageNames) {
		return outageNames[o]
	}
	return fmt.Sprintf("Outage(%d)", uint8(o))
}

const (
	defaultPrefix = "throttle:"
	// maxPrefix leaves room for the hash within the 128 bytes of a key.
	maxPrefix = 64
	// defaultTimeout is far above a round trip within a data centre, and a wait that nobody notices.
	defaultTimeout = 100 * time.Millisecond
	// maxTimeout: who waits longer than this waits for a store that is away.
	maxTimeout = 10 * time.Second
	// maxProcesses is more than share one quota anywhere, and a bound against a slip of units.
	maxProcesses = 1_000_000
)

// WithPrefix begins every key and channel with prefix: 1 to 64 printable ASCII characters without space, braces, or the wildcards
// of Redis patterns. Default "throttle:".
func WithPrefix(prefix string) Option {
	return func(c *config) error {
		odd := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`{}*?[]\`, r) }
		if prefix == "" || len(prefix) > maxPrefix || strings.ContainsFunc(prefix, odd) {
			return fmt.Errorf("redisbudget: WithPrefix(%q): use 1 to %d printable ASCII characters without space, braces or * ? [ ] \\", prefix, maxPrefix)
		}
		c.prefix = prefix
		return nil
	}
}

// WithTimeout is how long Redis may take to answer before a process goes on by itself: above 0, at most 10 s. The answer still counts
// when it comes. Default 100 ms.
func WithTimeout(d time.Duration) Option {
	return func(c *config) error {
		if d <= 0 || d > maxTimeout {
			return fmt.Errorf("redisbudget: WithTimeout(%v): use more than 0, and at most %v", d, maxTimeout)
		}
		c.timeout = d
		return nil
	}
}

// WithOutage is what a process does while Redis is away. Default Share.
func WithOutage(o Outage) Option {
	return func(c *config) error {
		if int(o) >= len(outageNames) {
			return fmt.Errorf("redisbudget: WithOutage(%v): use Share, Closed or Open", o)
		}
		c.outage = o
		return nil
	}
}

// WithProcesses is how many processes to reckon with at the least when Redis is away: 1 to 1,000,000. More that were seen count too. It
// matters to a process that starts while Redis is away already, and so has seen none. Default 1.
func WithProcesses(n int) Option {
	return func(c *config) error {
		if n < 1 || n > maxProcesses {
			return fmt.Errorf("redisbudget: WithProcesses(%d): use 1 to %d", n, maxProcesses)
		}
		c.processes = n
		return nil
	}
}
