package throttle

import (
	"sync"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/internal/seal"
)

// memory is a store for the processes of one test: whoever opens a key draws on the same budget of requests.
type memory struct {
	mu   sync.Mutex
	laws map[string]budget.Budget
	fail error // what Open says
}

func (m *memory) Open(key string, policies []budget.Policy, _ func(), _ func(error)) (budget.Account, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return nil, m.fail
	}
	if m.laws[key] == nil {
		law, err := budget.New(policies[0])
		if err != nil {
			return nil, err
		}
		m.laws[key] = law
	}
	return &account{m, m.laws[key]}, nil
}

func (m *memory) Sealed(seal.Seal) {}

// account is one process's part of it.
type account struct {
	m   *memory
	law budget.Budget
}

func (a *account) locked(f func(budget.Budget)) {
	a.m.mu.Lock()
	defer a.m.mu.Unlock()
	f(a.law)
}

func (a *account) Ready(now time.Time, c, _ budget.Cost) (at time.Time, ever bool) {
	a.locked(func(b budget.Budget) {
		var d time.Duration
		d, ever = b.Wait(now, c.Of(budget.Requests))
		at = now.Add(d)
	})
	return at, ever
}

func (a *account) Take(now time.Time, c budget.Cost) {
	a.locked(func(b budget.Budget) { b.Take(now, c.Of(budget.Requests)) })
}

func (a *account) Give(now time.Time, c budget.Cost) {
	a.locked(func(b budget.Budget) { b.Give(now, c.Of(budget.Requests)) })
}

func (a *account) State(now time.Time) (s []budget.State) {
	a.locked(func(b budget.Budget) { s = append(s, b.State(now)) })
	return s
}

func (a *account) Hold(time.Time)     {}
func (a *account) Held() time.Time    { return time.Time{} }
func (a *account) Resume()            {}
func (a *account) Resumed() time.Time { return time.Time{} }
func (a *account) Err() error         { return nil }
func (a *account) Close()             {}
