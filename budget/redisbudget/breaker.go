package redisbudget

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// probeFirst and probeMost bound the time between two probes: soon enough that nobody notices a hiccup, rare enough not to be
	// in the way of a server that starts.
	probeFirst = 100 * time.Millisecond
	probeMost  = 500 * time.Millisecond
	// probeSpread is the part of that time that is random, so that the processes do not all come back at once.
	probeSpread = 0.3
)

// breaker says when Redis may be asked again once it has failed: by one probe at a time. Its lock is the last to be taken. The
// zero value lets everything through.
type breaker struct {
	mu      sync.Mutex
	at      time.Time // of the next probe; zero while all is well
	probes  int
	probing bool
}

// fail notes that an ask has failed, and is when to ask next. Asks that were under way when the first one failed change nothing.
func (b *breaker) fail(now time.Time) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.at.IsZero() || b.probing {
		pause := min(probeMost, probeFirst<<min(b.probes, 10))
		b.at = now.Add(time.Duration(float64(pause) * (1 - probeSpread*rand.Float64())))
		b.probes++
		b.probing = false
	}
	return b.at
}

// mend notes that Redis has answered.
func (b *breaker) mend() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at, b.probes, b.probing = time.Time{}, 0, false
}

// allows reports whether Redis may be asked now.
func (b *breaker) allows(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.probing && !now.Before(b.at)
}

// claim is allows for the one who then does ask.
func (b *breaker) claim(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.probing || now.Before(b.at) {
		return false
	}
	b.probing = !b.at.IsZero()
	return true
}

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
