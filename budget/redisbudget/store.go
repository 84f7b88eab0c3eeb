package redisbudget

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/internal/seal"
)

// Store keeps budgets in Redis. Make it with New; one serves any number of clients of this process. It has no goroutine of its own
// once all accounts are closed, and needs no closing. Safe for concurrent use.
type Store struct {
	client redis.UniversalClient
	config
	script  script
	process string       // the name of this one
	live    atomic.Int64 // processes last seen by any account
	ear     ear
	company company
	now     func() time.Time // time.Now; tests have clocks that are wrong
}

var _ budget.Store = (*Store)(nil)

// New makes a store of a client for one server, for sentinels or for a cluster; addresses, TLS and credentials are the client's. It fails
// when an option makes no sense. It does not connect: what is wrong with the server shows as an event when a key is first used. The
// client stays the caller's, who closes it after the last use.
//
// Over a slow link, the client's ReadTimeout and DialTimeout bound how long one call may hang in the background.
func New(client redis.UniversalClient, opts ...Option) (*Store, error) {
	if client == nil {
		return nil, errors.New("redisbudget: New needs a client: use redis.NewUniversalClient")
	}
	s := &Store{client: client, config: config{prefix: defaultPrefix, timeout: defaultTimeout, processes: 1}, script: newScript(serverClock), process: token(), now: time.Now}
	for i, o := range opts {
		if o == nil {
			return nil, fmt.Errorf("redisbudget: option %d is nil: leave it out", i+1)
		}
		if err := o(&s.config); err != nil {
			return nil, err
		}
	}
	s.ear.client, s.ear.since = client, time.Now()
	s.company.serve(client)
	return s, nil
}

// Open joins the account of a key: see budget.Store. It fails when a policy is not valid. All processes should open a key with the same
// policies. Where only limits differ, those of the process that opened it last count for all, and the others are notified of a LimitsError.
// Where units or algorithms differ, those count too, and the others are notified of a ShapeError and go on as if Redis were away.
func (s *Store) Open(key string, policies []budget.Policy, wake func(), notify func(error)) (budget.Account, error) {
	resolved := make([]budget.Policy, len(policies))
	for i, p := range policies {
		if err := p.Validate(); err != nil {
			return nil, fmt.Errorf("redisbudget: %w", err)
		}
		resolved[i] = p.Resolve()
	}
	a := newAccount(s, key, slices.Clip(resolved), wake, notify)
	s.company.join(a)
	return a, nil
}

// Sealed keeps budget.Store in this module.
func (s *Store) Sealed(seal.Seal) {}

// least is how many processes to reckon with: those that share the key, as last seen, or any key where nobody knows; but no fewer than
// declared.
func (s *Store) least(live int) float64 {
	if live == 0 {
		live = int(s.live.Load())
	}
	return float64(max(live, s.processes))
}
