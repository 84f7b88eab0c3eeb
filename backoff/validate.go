package backoff

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// maxMax bounds Policy.Max. Whoever must step back for more than a year should not be a running program, and far below the 292
// years of a Duration no sum can overflow.
const maxMax = 366 * 24 * time.Hour

// minGrowth is the smallest growth that Validate lets pass as growth: it bounds the walk along the curve to some thousand steps.
const minGrowth = 1.01

// Validate reports everything that is wrong with the policy, or nil. Delays of a policy that fails here are still never negative
// and never above Max, but need not grow.
func (p Policy) Validate() error {
	d := p.withDefaults()
	return errors.Join(d.checkTimes(), d.checkMultiplier(), d.checkJitter())
}

func (p Policy) checkTimes() error {
	switch {
	case p.Initial < 0 || p.Min < 0 || p.Max < 0:
		return fmt.Errorf("backoff: negative time in Initial %v, Min %v, Max %v: use positive ones, or zero for the default", p.Initial, p.Min, p.Max)
	case p.Max > maxMax:
		return fmt.Errorf("backoff: Max %v is above %v: lower it", p.Max, maxMax)
	case p.Initial > p.Max:
		return fmt.Errorf("backoff: Initial %v is above Max %v: raise Max or lower Initial", p.Initial, p.Max)
	case p.Min > p.Initial:
		return fmt.Errorf("backoff: Min %v is above Initial %v: raise Initial or lower Min", p.Min, p.Initial)
	}
	return nil
}

func (p Policy) checkMultiplier() error {
	m := p.Multiplier
	switch {
	case math.IsNaN(m) || math.IsInf(m, 0) || m < 1:
		return fmt.Errorf("backoff: Multiplier %v does not let the interval grow: use 1 (constant) or more", m)
	case m == 1:
		return nil
	case m < minGrowth:
		return fmt.Errorf("backoff: Multiplier %v is too close to 1: use 1 (constant) or at least %v", m, minGrowth)
	case p.Initial >= 0 && float64(p.Initial)*(m-1) < 1:
		return fmt.Errorf("backoff: Initial %v times %v rounds to itself: raise one of them", p.Initial, m)
	}
	return nil
}

func (p Policy) checkJitter() error {
	if p.Jitter > None {
		return fmt.Errorf("backoff: %v is no kind of jitter: use Full, Equal or None", p.Jitter)
	}
	return nil
}
