package redisbudget

import (
	"slices"
	"sync"

	"github.com/redis/go-redis/v9"
)

// company is the open accounts of a store. Those that one server serves learn from each other that it is away, and that it is back.
type company struct {
	together bool // one server serves all keys; the nodes of a cluster fail one by one
	breaker  breaker

	mu       sync.Mutex
	accounts map[*account]bool
}

func (c *company) serve(client redis.UniversalClient) {
	_, c.together = client.(*redis.Client)
	c.accounts = map[*account]bool{}
}

func (c *company) join(a *account) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.accounts[a] = true
}

func (c *company) part(a *account) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.accounts, a)
}

// uses reports whether an account of that key is open: another client of this process may share it, or the same one have other policies.
func (c *company) uses(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for a := range c.accounts {
		if a.key == key {
			return true
		}
	}
	return false
}

// others are all accounts but one.
func (c *company) others(a *account) []*account {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]*account, 0, len(c.accounts))
	for other := range c.accounts {
		if other != a {
			all = append(all, other)
		}
	}
	return slices.Clip(all)
}

// spread tells the others what an account has just found out: that Redis is away, or that it is back. No lock may be held.
func (c *company) spread(a *account, found finding) {
	if !c.together {
		return
	}
	switch found.what {
	case wentAway:
		for _, other := range c.others(a) {
			other.alsoAway(found.err)
		}
	case cameBack:
		for _, other := range c.others(a) {
			other.askAgain()
		}
	}
}

// finding is what an account has found out that concerns the others too.
type finding struct {
	what found
	err  error // why Redis is away
}

type found uint8

const (
	nothingNew found = iota
	wentAway
	cameBack
)

// alsoAway makes an account go on by itself, as another one found that Redis is away.
func (a *account) alsoAway(err error) {
	now := a.store.now()
	a.mu.Lock()
	if !a.outage.on() && !a.closed {
		a.fail(now, err, &a.store.company.breaker)
	}
	a.mu.Unlock()
	a.announce()
}

// askAgain lets an account that is on its own ask, as Redis has answered another one.
func (a *account) askAgain() {
	now := a.store.now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.outage.on() && a.outage.breaker == &a.store.company.breaker && !a.closed {
		a.poke(now)
	}
}
