package throttle

import (
	"cmp"
	"errors"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// WithStore keeps the declared budgets in a store that several processes share: see package redisbudget. What refusals impose on one
// process then pauses all of them. The store belongs to whoever made it: Close leaves it open. Default: memory.
func WithStore(s budget.Store) Option {
	return single("WithStore", s != nil, func(c *config) { c.store = s })
}

// shared is the budgets of a key, or of one of its routes, that live in a store.
type shared struct {
	meterName
	route    string // its pattern; empty for those of the key
	policies []budget.Policy
	account  budget.Account
}

// share opens the account of some policies. The name tells the key's own from those of its routes.
func (l *lane) share(name string, policies []budget.Policy) (*shared, error) {
	resolved := make([]budget.Policy, len(policies))
	for i, p := range policies {
		resolved[i] = p.Share(l.cfg.share).Resolve()
	}
	a, err := l.cfg.store.Open(name, resolved, l.kick, func(err error) {
		l.cfg.observers.emit(background, Event{Kind: KindDegraded, Key: l.key, Err: err})
	})
	if err != nil {
		return nil, err
	}
	if a == nil {
		return nil, errors.New("the store opened no account")
	}
	return &shared{meterName: meterName{name: "shared", unit: budget.Requests, source: SourceShared}, policies: policies, account: a}, nil
}

// rejoin leaves the key's account for one with other policies.
func (l *lane) rejoin(policies []budget.Policy) error {
	var joined *shared
	if len(policies) > 0 {
		var err error
		if joined, err = l.share(l.key, policies); err != nil {
			return err
		}
	}
	if l.account != nil {
		l.account.account.Close()
	}
	l.account = joined
	return l.reassemble()
}

// accountOfRoute is the shared budgets of a route, joined at its first call.
func (l *lane) accountOfRoute(i int) (*shared, error) {
	if a, ok := l.accounts[i]; ok {
		return a, nil
	}
	r := &l.cfg.routes[i]
	a, err := l.share(l.key+" "+r.pattern, r.policies)
	if err != nil {
		return nil, err
	}
	a.name, a.route = r.pattern, r.pattern
	l.accounts[i] = a
	return a, nil
}

// eachAccount visits every account of the lane.
func (l *lane) eachAccount(f func(*shared)) {
	if l.account != nil {
		f(l.account)
	}
	for _, a := range l.accounts {
		f(a)
	}
}

// wantedCost is what all calls that wait cost together, w included.
func (l *lane) wantedCost(w *waiter) budget.Cost {
	sum := budget.Cost{budget.Requests: l.wanted(w, budget.Requests)}
	for unit := range w.cost.others {
		sum[unit] = l.wanted(w, unit)
	}
	return sum
}

// states are the shared budgets as this process last saw them.
func (s *shared) states(now time.Time) []BudgetState {
	seen := s.account.State(now)
	states := make([]BudgetState, 0, len(seen))
	for i, b := range seen {
		p := s.policies[i].Resolve()
		states = append(states, BudgetState{Name: cmp.Or(p.Name, s.route), Unit: p.Unit, Source: SourceShared,
			Limit: b.Limit, Window: b.Window, Used: b.Used, Available: b.Available, Next: b.Next})
	}
	return states
}

// ask takes into account what the shared budgets and the other processes say.
func (s *shared) ask(r *ruling, now time.Time, c cost, waiting budget.Cost) {
	if err := s.account.Err(); err != nil {
		*r = ruling{by: &s.meterName, cause: CauseBudget, err: err}
		return
	}
	at, ever := s.account.Ready(now, c.whole(), waiting)
	if !ever {
		*r = ruling{by: &s.meterName, cause: CauseBudget}
		return
	}
	if at.IsZero() {
		at = never
	}
	r.delay(at, CauseBudget, &s.meterName)
	if held := s.account.Held(); held.After(now) {
		r.delay(held, CauseHold, nil)
	}
}

// whole is a cost with its requests, as a store wants it.
func (c cost) whole() budget.Cost {
	if c.others == nil && c.requests == 1 {
		return nil
	}
	whole := c.others.Clone()
	if whole == nil {
		whole = budget.Cost{}
	}
	whole[budget.Requests] = c.requests
	return whole
}

// less is what is to be given back when the actual cost is another one; units that actual does not name are left alone.
func (c cost) less(actual budget.Cost) budget.Cost {
	back := budget.Cost{budget.Requests: 0}
	for unit, n := range actual {
		back[unit] = c.of(unit) - n
	}
	return back
}

// saved is what another cost takes less than c, of every unit that either names.
func (c cost) saved(other cost) budget.Cost {
	back := budget.Cost{budget.Requests: c.requests - other.requests}
	for unit := range c.others {
		back[unit] = c.of(unit) - other.of(unit)
	}
	for unit := range other.others {
		back[unit] = c.of(unit) - other.of(unit)
	}
	return back
}
