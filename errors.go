package throttle

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Why a call was refused here, without being sent. They arrive inside a *LimitError; test with errors.Is. A deadline that is nearer than
// the wait is told as context.DeadlineExceeded.
var (
	// ErrMaxWait: the call would wait longer than its max wait allows.
	ErrMaxWait = errors.New("the wait is longer than the max wait")
	// ErrMaxHold: even with nobody ahead the call would wait longer than the max hold allows.
	ErrMaxHold = errors.New("the wait is longer than the max hold")
	// ErrQueueFull: as many calls wait for the key as WithMaxQueue allows.
	ErrQueueFull = errors.New("the queue is full")
	// ErrCostTooLarge: the call costs more than a budget can ever hold.
	ErrCostTooLarge = errors.New("the cost is more than the budget can ever hold")
	// ErrClosed: the Transport was closed.
	ErrClosed = errors.New("the transport is closed")
)

// ErrAttemptTimeout ends an attempt whose response headers took longer than WithAttemptTimeout allows. Unlike the others it comes by itself, since the
// request was sent. It is a net.Error whose Timeout is true, and it is not context.DeadlineExceeded: that is the caller's own deadline.
var ErrAttemptTimeout error = &timeoutError{"throttle: no response headers within the attempt timeout (WithAttemptTimeout)"}

// timeoutError is an error that says it is a time-out, as net.Error has it.
type timeoutError struct{ text string }

func (e *timeoutError) Error() string   { return e.text }
func (e *timeoutError) Timeout() bool   { return true }
func (e *timeoutError) Temporary() bool { return true }

// LimitError says why a call was not sent, and when it could have been. errors.Is sees through it to one of the Err variables,
// to context.DeadlineExceeded, to context.Canceled, or to what a policy function returned; what is left is a cost that cannot be counted, or an
// Acquire without a key.
type LimitError struct {
	Key string // whose quota; empty if an Acquire named none
	// Budget is what made it wait: the budget's Name in State, or its Unit where it has none; "shared" under WithStore; empty when it was a hold, a slot
	// or the queue.
	Budget string
	Cause  Cause         // what made it wait
	Wait   time.Duration // the wait it would have taken, as far as is known; 0 = unknown
	Until  time.Time     // now + Wait; zero = unknown
	Cost   float64       // with ErrCostTooLarge: what the call costs in the budget's unit
	Limit  float64       // with ErrCostTooLarge: the most that the budget can hold
	Cap    time.Duration // with ErrMaxWait and ErrMaxHold: the setting that was exceeded

	Attempts int         // attempts made before; 0 = nothing was ever sent
	Header   http.Header // of the key's newest refusal, a copy; nil before the first one. Not to be changed
	Err      error       // the reason
}

// Error says what, where and how long.
func (e *LimitError) Error() string {
	var b strings.Builder
	b.WriteString("throttle: ")
	if e.Key != "" {
		b.WriteString(e.Key + ": ")
	}
	fmt.Fprint(&b, e.Err)
	if e.Budget != "" {
		fmt.Fprintf(&b, " (budget %s", e.Budget)
		if e.Limit > 0 {
			fmt.Fprintf(&b, ": cost %g, limit %g", e.Cost, e.Limit)
		}
		b.WriteString(")")
	} else if e.Cause != CauseNone {
		fmt.Fprintf(&b, " (%v)", e.Cause)
	}
	if need := e.Wait.Round(time.Millisecond); need > 0 {
		fmt.Fprintf(&b, ": needs %v", need)
	}
	if e.Cap > 0 {
		fmt.Fprintf(&b, ", allowed %v", e.Cap)
	}
	return b.String()
}

// Unwrap is the reason.
func (e *LimitError) Unwrap() error { return e.Err }

// Timeout reports whether time was the reason, as net.Error has it.
func (e *LimitError) Timeout() bool {
	return errors.Is(e.Err, context.DeadlineExceeded) || errors.Is(e.Err, ErrMaxWait) || errors.Is(e.Err, ErrMaxHold)
}

// Temporary reports whether the same call may succeed later just because time has passed, as net.Error has it.
func (e *LimitError) Temporary() bool { return e.Timeout() || errors.Is(e.Err, ErrQueueFull) }
