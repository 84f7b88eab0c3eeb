package redisbudget

import "fmt"

// ShapeError says that another process counts the same key in other units or by other algorithms, so that the two cannot share it. It
// comes with the event that reports the store as away: this process goes on by itself.
type ShapeError struct {
	Key          string // whose account
	Ours, Theirs string // the policies, in the form of budget.ParsePolicy, with commas between them
}

// Error says what differs, and what to do.
func (e *ShapeError) Error() string {
	return fmt.Sprintf("redisbudget: key %q is counted otherwise by another process: here %s, there %s: give all processes the same policies", e.Key, e.Ours, e.Theirs)
}

// LimitsError says that another process declares other limits for the same key. Those of the process that opened the key last count, for
// all.
type LimitsError ShapeError

// Error says what differs, and which counts.
func (e *LimitsError) Error() string {
	return fmt.Sprintf("redisbudget: key %q has other limits in another process that began later: here %s, there %s: the latter count", e.Key, e.Ours, e.Theirs)
}
