package throttle

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// declareAll makes the budgets of some policies. Policies that count the same are one budget.
func (l *lane) declareAll(policies []budget.Policy) ([]*declared, error) {
	made := make([]*declared, 0, len(policies))
	for _, p := range policies {
		d, err := l.declare(p)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(made, d.equals) {
			made = append(made, d)
		}
	}
	return made, nil
}

// equals reports whether two budgets count the same.
func (d *declared) equals(other *declared) bool {
	a, b := d.ours, other.ours
	a.Name, b.Name = "", ""
	return a == b
}

// declare makes the budget of a policy, or finds the one that shares its name.
func (l *lane) declare(p budget.Policy) (*declared, error) {
	if d := l.shared[p.Name]; d != nil {
		return d, nil
	}
	d, err := newDeclared(l, p)
	if err == nil && p.Name != "" {
		l.shared[p.Name] = d
	}
	return d, err
}

// checkNames refuses policies that can meet in one key, share a name, and yet differ: a name is one budget. own are those of the key.
func (c *config) checkNames(own []budget.Policy) error {
	named := map[string]budget.Policy{}
	all := own
	for i := range c.routes {
		all = append(all[:len(all):len(all)], c.routes[i].policies...)
	}
	for _, p := range all {
		if other, met := named[p.Name]; met && p != other && p.Name != "" {
			return fmt.Errorf("the policies %v and %v share the name %q but differ: a name is one budget", other, p, p.Name)
		}
		named[p.Name] = p
	}
	return nil
}

// setPolicies replaces the budgets of the key. What was spent stays spent, and everybody who waits is looked at again. With a policy function it
// is left to the next call, since its answer may depend on the new ones.
func (l *lane) setPolicies(policies []budget.Policy) error {
	l.lock()
	defer l.mu.Unlock()
	l.asks.Store(true)
	if l.cfg.policyFunc != nil {
		return nil
	}
	return l.takePolicies(policies, time.Now())
}

// waitingFor reports whether calls wait while the policy function is to be asked again, and the request of the first.
func (l *lane) waitingFor() (req *http.Request, asks bool) {
	if l.cfg.policyFunc == nil || !l.asks.Load() {
		return nil, false
	}
	l.lock()
	defer l.mu.Unlock()
	for _, c := range l.order {
		if w := c.queue.head(); w != nil {
			return w.req, true
		}
	}
	return nil, false
}

// answerPolicies takes what is declared now, if that was asked for.
func (l *lane) answerPolicies(policies []budget.Policy) error {
	l.lock()
	defer l.mu.Unlock()
	if !l.asks.Load() {
		return nil
	}
	return l.takePolicies(policies, time.Now())
}

// takePolicies puts new policies in force. On an error the old ones stay so, and the next call tries again.
func (l *lane) takePolicies(policies []budget.Policy, now time.Time) error {
	if err := l.change(policies, now); err != nil {
		return &LimitError{Key: l.key, Err: err}
	}
	l.asks.Store(false)
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
	l.nameRoutes()
	made, err := l.declareAll(policies)
	if err != nil {
		return err
	}
	for _, d := range made {
		if from := d.predecessor(old); from != nil {
			d.inherit(from, now)
		}
	}
	l.ofKey = made
	l.pair()
	return l.reassemble()
}

// nameRoutes leaves of the budgets with a name only those of the routes.
func (l *lane) nameRoutes() {
	clear(l.shared)
	for _, own := range l.byRoute {
		for _, d := range own {
			if d.policy.Name != "" {
				l.shared[d.policy.Name] = d
			}
		}
	}
}

// predecessor is the budget that d replaces: the one of its name, else of its window, else the one that remembers most.
func (d *declared) predecessor(old []*declared) (best *declared) {
	rank := time.Duration(-1)
	for _, o := range old {
		r := o.ours.Window // at most a year
		switch {
		case o == d || o.unit != d.unit:
			continue
		case d.policy.Name != "" && o.policy.Name == d.policy.Name:
			r = math.MaxInt64
		case o.ours.Window == d.ours.Window:
			r = math.MaxInt64 - 1
		}
		if r > rank {
			best, rank = o, r
		}
	}
	return best
}

// inherit takes over what was spent under another policy.
func (d *declared) inherit(from *declared, now time.Time) {
	if law, err := budget.Change(from.law, now, d.ours); err == nil { // it was checked before
		d.law, d.since = law, from.since
	}
}
