package throttle

import "time"

// The retry budget: retries of failures are at most a fifth of the calls, so that a server that is down gets 1.2 times the traffic and not
// four times; a floor lets a quiet program retry at all. The figures are Finagle's (finagle.github.io, "Retry Budgets").
const (
	retryDeposit = 0.2              // of a retry, by each call
	retryFloor   = 10.0             // retries at the start, and regained over time
	retryRegain  = 10 * time.Second // for one retry of the floor
	retryMost    = 100.0            // saved up in good times
)

// retryBudget counts how many retries of failures a lane may make. The zero value is a full floor.
type retryBudget struct {
	used  float64 // retries less deposits, below the floor
	since time.Time
}

// deposit counts a call.
func (b *retryBudget) deposit() { b.used = max(b.used-retryDeposit, retryFloor-retryMost) }

// withdraw takes one retry, if there is one.
func (b *retryBudget) withdraw(now time.Time) bool {
	if b.used > 0 && !b.since.IsZero() {
		b.used = max(b.used-float64(now.Sub(b.since))/float64(retryRegain), 0)
	}
	b.since = now
	if b.used+1 > retryFloor {
		return false
	}
	b.used++
	return true
}

// mayRetry takes one retry of a failure from the lane's budget.
func (l *lane) mayRetry() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.retries.withdraw(time.Now())
}
