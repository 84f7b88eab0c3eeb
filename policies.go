package throttle

import (
	"fmt"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// declareAll makes the budgets of some policies.
func (l *lane) declareAll(policies []budget.Policy) ([]*declared, error) {
	made := make([]*declared, 0, len(policies))
	for _, p := range policies {
		d, err := l.declare(p)
		if err != nil {
			return nil, err
		}
		made = append(made, d)
	}
	return made, nil
}

// declare makes the budget of a policy, or finds the one that shares its name.
func (l *lane) declare(p budget.Policy) (*declared, error) {
	if d := l.shared[p.Name]; d != nil {
		if d.policy != p {
			return nil, fmt.Errorf("the policies %v and %v share the name %q but differ", d.policy, p, p.Name)
		}
		return d, nil
	}
	d, err := newDeclared(l, p)
	if err != nil {
		return nil, err
	}
	if p.Name != "" {
		l.shared[p.Name] = d
	}
	return d, nil
}

// setPolicies replaces the budgets of the key. What was spent stays spent, and everybody who waits is looked at again.
func (l *lane) setPolicies(policies []budget.Policy) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cfg.policyFunc != nil {
		l.asks = true // its answer may depend on the new ones
		return
	}
	if l.change(policies, now) == nil {
		l.sweep(now)
		l.pump(now)
	}
}

// asksPolicies reports whether the policy function is to be asked again.
func (l *lane) asksPolicies() bool {
	if l.cfg.policyFunc == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asks
}

// answerPolicies takes what the policy function said, if it was to be asked again.
func (l *lane) answerPolicies(policies []budget.Policy) error {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.asks {
		return nil
	}
	l.asks = false
	if err := l.change(policies, now); err != nil {
		return &LimitError{Key: l.key, Err: err}
	}
	l.sweep(now)
	l.pump(now)
	return nil
}

// change puts new policies in the place of the old: each takes over from the old one that it replaces.
func (l *lane) change(policies []budget.Policy, now time.Time) error {
	if l.cfg.store != nil {
		return l.rejoin(policies)
	}
	old := l.ofKey
	for _, d := range old {
		delete(l.shared, d.policy.Name)
	}
	made, err := l.declareAll(policies)
	if err != nil {
		return err
	}
	for _, d := range made {
		if from := predecessor(old, d.policy); from != nil {
			if err := d.inherit(from, now); err != nil {
				return err
			}
		}
	}
	l.ofKey = made
	l.pair()
	return l.reassemble()
}

// predecessor is the budget that p replaces: the one of its name, else of its unit and window, else of its unit alone.
func predecessor(old []*declared, p budget.Policy) *declared {
	var best *declared
	rank := 0
	for _, d := range old {
		r := 0
		switch {
		case d.unit != p.Resolve().Unit:
			continue
		case p.Name != "" && d.policy.Name == p.Name:
			r = 3
		case d.policy.Window == p.Window:
			r = 2
		case d.policy.Name == p.Name:
			r = 1
		}
		if r > rank {
			best, rank = d, r
		}
	}
	return best
}

// inherit takes over what was spent under another policy.
func (d *declared) inherit(from *declared, now time.Time) error {
	law, err := budget.Change(from.law, now, d.ours)
	if err == nil {
		d.law = law
	}
	return err
}
