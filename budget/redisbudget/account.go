package redisbudget

import (
	"sync"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// account is this process's part in the budgets of one key. Its methods never wait for the network: they read what is in hand, and at
// most start the one goroutine that talks to Redis (talk.go). That ends when there is nothing to say.
type account struct {
	store    *Store
	key      string
	names    names
	policies []budget.Policy
	declared string // the same as text
	wake     func()
	notify   func(error)

	mu       sync.Mutex
	pool     pool
	back     []float64 // to be given back with the next ask; negative: debt
	oldest   time.Time // when the oldest of that was due; zero for nothing
	pace     pace
	need     []float64 // what is wanted next: for the head of the queue,
	more     []float64 // for each call behind it on average,
	slots    int       // and this many slots; 0 = nothing is wanted
	missed   int       // slots that were over before anybody used them, since the last ask
	queued   bool      // somebody waits behind the head
	lastSize int       // of the lease that was asked for last,
	lastAt   time.Time // and when that was
	served   bool      // it was enough for all who waited then
	view     view
	held     time.Time
	doubted  time.Time // since when there is no sign of life, should Redis be away; zero = no doubt
	poked    bool      // Redis is to be asked although nothing is wanted
	tell     time.Time // a hold that the others do not know of yet; zero for none
	heard    float64   // when a hold was last begun or ended, as Redis counts
	resumed  time.Time // when this process learned of the last end
	resume   time.Time // when it was asked to end a hold, which the others do not know of yet; zero for none
	tryAt    time.Time // no slot is to be had if asked sooner
	waitFor  time.Time // the slot that was too far ahead then
	outage   *outage   // nil while Redis is there
	absence  absence
	busy     bool // the goroutine runs
	flying   bool // an ask is under way,
	sent     time.Time
	asks     uint64 // sent so far
	closed   bool
	left     bool
	timer    *time.Timer
	alarm    time.Time // when it fires; zero = not set
	news     news
}

var _ budget.Account = (*account)(nil)

func newAccount(s *Store, key string, policies []budget.Policy, wake func(), notify func(error)) *account {
	n := len(policies)
	a := &account{store: s, key: key, names: namesOf(s.prefix, key), policies: policies, declared: describe(policies), wake: wake, notify: notify,
		back: make([]float64, n), need: make([]float64, n), more: make([]float64, n)}
	a.view.most = make([]float64, n)
	for i, p := range policies {
		a.view.most[i] = most(p)
	}
	a.absence.spent, a.absence.trail = make([]float64, n), make([][]spending, n)
	return a
}

// most is what a budget can ever hold.
func most(p budget.Policy) float64 {
	if p.Algorithm == budget.TokenBucket {
		return p.Burst
	}
	return p.Limit
}

// slack is what a limit may be exceeded by, relatively, as in package budget.
const slack = 1 + 0x1p-50

// amounts is a cost by policy.
func (a *account) amounts(c budget.Cost) []float64 {
	n := make([]float64, len(a.policies))
	for i, p := range a.policies {
		n[i] = c.Of(p.Unit)
	}
	return n
}

// Ready is from when on a call may leave. It sees to it that there will be slots.
func (a *account) Ready(now time.Time, c, waiting budget.Cost) (time.Time, bool) {
	need := a.amounts(c)
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, n := range need {
		if !(n <= a.view.most[i]*slack) {
			return time.Time{}, false
		}
	}
	if nothing(need) {
		return now, true
	}
	a.lapse(now)
	at, ok := a.pool.at(need)
	a.demand(now, need, waiting, ok)
	switch {
	case a.outage != nil:
		return a.alone(now, need, at, ok), true
	case ok:
		return at, true
	case a.waitFor.After(now):
		return a.waitFor, true
	}
	return time.Time{}, true
}

// Take spends slots in hand, or this process's share while Redis is away. What neither covers is debt.
func (a *account) Take(now time.Time, c budget.Cost) {
	cost := a.amounts(c)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pace.add(now)
	if a.outage != nil {
		if at, ok := a.pool.at(cost); !ok || at.After(now) {
			a.takeAlone(now, cost)
			return
		}
	}
	a.giveBack(now, a.pool.spend(cost), -1)
}

// Give returns units, or adds debt.
func (a *account) Give(now time.Time, c budget.Cost) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.outage != nil {
		a.giveAlone(now, a.amounts(c))
		return
	}
	a.giveBack(now, a.amounts(c), 1)
}

// Hold stops all processes. It counts here at once, and there as soon as Redis has told them.
func (a *account) Hold(until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !until.After(a.held) {
		return
	}
	a.held, a.tell = until, until
	a.request(a.store.now())
}

// Resume ends the hold for all processes: here at once, and there as soon as Redis has told them.
func (a *account) Resume() {
	now := a.store.now()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.held, a.tell, a.resume = now, time.Time{}, now
	a.startOver()
	a.request(now)
}

// startOver gives back what was leased for the end of a hold, which has come sooner.
func (a *account) startOver() {
	for _, s := range a.pool.slots {
		a.returns(s)
	}
	a.pool.slots = nil
	a.tryAt, a.waitFor = time.Time{}, time.Time{}
}

// forget drops the slots in hand, which are of a state that Redis has lost. Others are given as much anew; what is owed stays.
func (a *account) forget() {
	a.pool.slots = nil
	for i := range a.back {
		a.back[i] = min(0, a.back[i])
	}
}

// Resumed is when this process learned that a hold was over before its time; the zero Time if none ever was.
func (a *account) Resumed() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.resumed
}

// Held is until when the key is held.
func (a *account) Held() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.held
}

// State describes the budgets as Redis last did; slots in hand are available too. While Redis is away it describes the shares.
func (a *account) State(now time.Time) []budget.State {
	a.mu.Lock()
	defer a.mu.Unlock()
	states := make([]budget.State, len(a.policies))
	for i, p := range a.policies {
		if a.outage != nil && a.outage.shares != nil {
			states[i] = a.outage.shares[i].State(a.view.server(now))
			if next := states[i].Next; !next.IsZero() {
				states[i].Next = now.Add(next.Sub(a.view.server(now)))
			}
			continue
		}
		states[i] = a.view.state(i, p, now)
		states[i].Available = min(a.view.most[i], states[i].Available+a.pool.total(i))
	}
	return states
}

// Close gives back what is in hand and leaves the company of the processes, in the background.
func (a *account) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	a.closed = true
	a.startOver()
	a.slots = 0
	if a.timer != nil {
		a.timer.Stop()
	}
	a.store.company.part(a)
	a.request(a.store.now())
}

// lapse gives back the slots that are over.
func (a *account) lapse(now time.Time) {
	a.pool.lapse(now, func(s slot) {
		a.returns(s)
		a.missed++
	})
}

// returns gives back what is left of a slot.
func (a *account) returns(s slot) {
	accumulate(a.back, s.left, 1)
	if a.oldest.IsZero() || s.due.Before(a.oldest) {
		a.oldest = s.due
	}
}

// returnDelay is how long what is given back waits for an ask that takes it along: at most the slots of that time stay unused, and Redis
// is asked by far less often than calls are made.
const returnDelay = 200 * time.Millisecond

// giveBack notes units as given back; sign -1 for debt.
func (a *account) giveBack(now time.Time, n []float64, sign float64) {
	accumulate(a.back, n, sign)
	if a.oldest.IsZero() {
		a.oldest = now
	}
	if a.owes() {
		a.arm(now.Add(returnDelay))
	}
}

// owes reports whether something is to be given back, or to be paid.
func (a *account) owes() bool {
	for _, n := range a.back {
		if n > dust || n < -dust {
			return true
		}
	}
	return false
}
