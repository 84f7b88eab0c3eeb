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

// Validate reports an amount that cannot be counted: negative, not a number, or above 1e15.
func (c Cost) Validate() error {
	for unit, n := range c {
		if !(n >= 0 && n <= maxLimit) {
			return c.firstError()
		}
		if unit == "" {
			return fmt.Errorf("budget: cost of %v without a unit: name it, for example %q", n, Requests)
		}
	}
	return nil
}

// firstError describes the first bad amount in the order of the units, so that the same Cost always gets the same error.
func (c Cost) firstError() error {
	for _, unit := range slices.Sorted(maps.Keys(c)) {
		if n := c[unit]; !(n >= 0 && n <= maxLimit) {
			return fmt.Errorf("budget: cost of %v %s: use a number from 0 to %v", n, unit, maxLimit)
		}
	}
	return nil
}

// Clone is a copy that the caller of a foreign Cost may keep; nil stays nil.
func (c Cost) Clone() Cost { return maps.Clone(c) }

// Minus is what is left of c when spent is taken off, for each unit that c or spent names; negative where more was spent. It is what
// is to be given back when c was reserved and spent is the truth. A unit that spent does not name is taken as spent as reserved, so
// it is left out.
func (c Cost) Minus(spent Cost) Cost {
	rest := make(Cost, len(spent))
	for unit, n := range spent {
		rest[unit] = c.Of(unit) - n
	}
	return rest
}
