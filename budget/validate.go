package budget

import (
	"errors"
	"fmt"
	"time"
)

// Bounds of what a policy may declare.
const (
	// maxLimit keeps whole units exact: a float64 holds them up to 2^53 = 9e15, and slack is less than one unit up to here.
	maxLimit = 1e15
	// minWindow is the shortest window: network jitter is about as long, so a shorter one could not be kept at the server.
	minWindow = time.Millisecond
	// maxWindow is the longest window, and the longest that one unit may take: a hundred years, so that sums of such times fit
	// into the 292 years of a Duration.
	maxWindow = 36600 * day
)

// Validate reports everything that is wrong with the policy, or nil.
func (p Policy) Validate() error {
	return errors.Join(p.checkLimit(), p.checkWindow(), p.checkSpacing(), p.checkBurst(), p.checkAlgorithm(), p.checkAnchor())
}

// wrong is an error about one field of the policy.
func (p Policy) wrong(format string, args ...any) error {
	return fmt.Errorf("budget: policy %q: "+format, append([]any{p.String()}, args...)...)
}

func (p Policy) checkLimit() error {
	if p.Limit > 0 && p.Limit <= maxLimit {
		return nil
	}
	return p.wrong("Limit is %v: use a number above 0 and at most %v (to stop a key, hold it; for no limit, declare none)", p.Limit, maxLimit)
}

func (p Policy) checkWindow() error {
	if p.Window >= minWindow && p.Window <= maxWindow {
		return nil
	}
	return p.wrong("Window is %v: use %v to %v", formatWindow(p.Window), formatWindow(minWindow), formatWindow(maxWindow))
}

func (p Policy) checkSpacing() error {
	if p.checkLimit() != nil || p.checkWindow() != nil || p.Spacing() <= maxWindow {
		return nil
	}
	return p.wrong("one unit would take longer than %v: raise Limit", formatWindow(maxWindow))
}

func (p Policy) checkBurst() error {
	switch {
	case p.Burst == 0:
		return nil
	case !(p.Burst >= p.leastBurst() && p.Burst <= maxLimit):
		return p.wrong("Burst is %v: use 1 to %v, or zero for the default", p.Burst, maxLimit)
	case p.Algorithm != Auto && p.Algorithm != TokenBucket:
		return p.wrong("%v has no Burst: leave it out, or use %v", p.Algorithm, TokenBucket)
	}
	return nil
}

func (p Policy) checkAlgorithm() error {
	_, err := p.Algorithm.MarshalText()
	if err != nil {
		return p.wrong("%w", err)
	}
	return nil
}

func (p Policy) checkAnchor() error {
	switch year := p.Anchor.UTC().Year(); {
	case p.Anchor.IsZero():
		return nil
	case p.Algorithm != FixedWindow:
		return p.wrong("%v has no Anchor: leave it out, or use %v", p.Algorithm, FixedWindow)
	case year < 1 || year > 9999:
		return p.wrong("Anchor lies in the year %d: use one between 1 and 9999", year)
	}
	return nil
}
