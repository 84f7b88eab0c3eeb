package budget

import (
	"time"

	"github.com/seed-18ca0a92/throttle/internal/seal"
)

// Store is where budgets live when several processes share a quota. Its methods may change until version 1.0, so only this module can
// implement it; package redisbudget does.
type Store interface {
	// Open joins the account of a key. The policies are those of the key, resolved; all processes should open it with the same.
	// wake is called whenever an answer of the account may have changed, notify when the store went away (with the reason) or came back
	// (nil); both without locks held, from any goroutine. Open does not wait for the network: what is wrong with the store
	// itself shows as a notification.
	Open(key string, policies []Policy, wake func(), notify func(error)) (Account, error)
	// Sealed keeps the interface in this module.
	Sealed(seal.Seal)
}

// Account is this process's part in the budgets that all processes share for one key. A call takes from all of its policies or from none.
// It is safe for concurrent use, and none of its methods waits for the network.
type Account interface {
	// Ready is from when on a call of this cost may leave, and false for ever if a policy can never hold it. The zero Time means that
	// only the store can tell: wake is called when it has. waiting is what all calls that wait cost together, this one included; the account
	// may ask the store for as much ahead.
	Ready(now time.Time, c, waiting Cost) (at time.Time, ever bool)
	// Take spends the cost. Only after Ready said now or earlier; sooner it becomes debt.
	Take(now time.Time, c Cost)
	// Give returns units that were taken and not used; negative ones are debt.
	Give(now time.Time, c Cost)
	// Err is why nothing may leave, and nothing should wait: the store is away, and was told to let nobody go on without it. Nil otherwise.
	Err() error
	// Hold tells all processes that nothing may leave before until. It is only ever extended, but for Resume.
	Hold(until time.Time)
	// Resume ends a hold for all processes before its time.
	Resume()
	// Resumed is when this process last learned that a hold was ended so, by itself or by another; the zero Time if never.
	Resumed() time.Time
	// Held is until when this or another process held the key; a moment in the past if nobody does.
	Held() time.Time
	// State describes the budgets in the order of the policies, as this process last saw them.
	State(now time.Time) []State
	// Close returns what is not used. The account must not be used any more.
	Close()
}
