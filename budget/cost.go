package budget

import (
	"fmt"
	"maps"
	"slices"
)

// Cost is what one call takes, by unit. A nil Cost is one request; a Cost without requests counts one request too (zero must be said).
// Units that nobody limits are ignored.
type Cost map[string]float64

// Of is what the call takes of one unit; an empty unit means Requests.
func (c Cost) Of(unit string) float64 {
	if unit == "" {
		unit = Requests
	}
	n, said := c[unit]
	if !said && unit == Requests {
		return 1
	}
	return n
}

// Validate reports an amount that cannot be counted: negative, not a number, above 1e15, or without a unit. Of several, it names the
// first in the order of the units, so that the same Cost always gets the same error.
func (c Cost) Validate() error {
	if len(c) == 0 {
		return nil // nearly every call's
	}
	for unit, n := range c {
		if !countable(unit, n) {
			return c.firstError()
		}
	}
	return nil
}

func countable(unit string, n float64) bool { return unit != "" && n >= 0 && n <= maxLimit }

// firstError describes the first amount that is not countable. There is one.
func (c Cost) firstError() error {
	units := slices.Sorted(maps.Keys(c))
	unit := units[slices.IndexFunc(units, func(u string) bool { return !countable(u, c[u]) })]
	if unit == "" {
		return fmt.Errorf("budget: cost of %v without a unit: name it, for example %q", c[unit], Requests)
	}
	return fmt.Errorf("budget: cost of %v %s: use a number from 0 to %v", c[unit], unit, maxLimit)
}

// Clone is a copy, for whoever keeps a Cost that its maker may still change; nil stays nil.
func (c Cost) Clone() Cost { return maps.Clone(c) }
