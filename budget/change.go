package budget

import "time"

// Change replaces the policy of a budget while it runs. What is spent at now stays spent: the budget that is returned stands where one of
// the new policy would if it had counted the same units at the same times, as far as the old one remembers. A sliding log
// remembers each call of its last window, windows remember two counts, buckets only how much is missing; units whose time is not
// remembered count as late as they can have been taken. More than the new limit holds becomes debt.
//
// b itself is left as it is and no longer counts; it is returned when p is counted just as before. The error is that of
// Policy.Validate, and b goes on then.
func Change(b Budget, now time.Time, p Policy) (Budget, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	resolved := p.Resolve()
	if l, ok := b.(law); ok && l.policy() == resolved {
		return b, nil
	}
	next := newLaw(resolved)
	for _, s := range spentOf(b, now) {
		next.Take(s.at, s.n)
	}
	return next, nil
}

func spentOf(b Budget, now time.Time) []spend {
	if l, ok := b.(law); ok {
		return l.spent(now)
	}
	return []spend{{now, b.State(now).Used}}
}
