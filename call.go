package throttle

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// NoWait as a max wait means: fail at once rather than wait.
const NoWait time.Duration = -1

// Call is what one call asks for. A zero field means the transport's setting, or that of the Call already in the context.
type Call struct {
	Key  string      // whose quota; empty = what WithKey says
	Cost budget.Cost // what the call takes; nil = what WithCost says, or one request. One that budget.Cost.Validate refuses fails the call

	// Priority orders the queue: higher first, zero the default, negative for background work.
	Priority int

	MaxWait     time.Duration // all waits of the call added up; NoWait, or anything below zero = none at all
	MaxAttempts int           // attempts in all, the first included; 1 = never retry, below zero = as zero

	Idempotent bool // may be repeated after it may have been processed
	Bypass     bool // sent at once, and once: counted, never waits

	Result *Result // filled before RoundTrip returns, also on error
}

type callKey struct{}

// plainCall is a call that asks for nothing special. It never changes.
var plainCall Call

// NewContext is a context whose requests carry c, merged with a Call that ctx carries already: what c leaves zero stays as it was.
func NewContext(ctx context.Context, c Call) context.Context {
	outer, _ := FromContext(ctx)
	merged := c.over(outer)
	return context.WithValue(ctx, callKey{}, &merged)
}

// FromContext is the Call that ctx carries, and whether it carries one.
func FromContext(ctx context.Context) (Call, bool) {
	if c, ok := ctx.Value(callKey{}).(*Call); ok {
		return *c, true
	}
	return Call{}, false
}

// over is c with its zero fields taken from outer.
func (c Call) over(outer Call) Call {
	if c.Key == "" {
		c.Key = outer.Key
	}
	if c.Cost == nil {
		c.Cost = outer.Cost
	}
	if c.Priority == 0 {
		c.Priority = outer.Priority
	}
	if c.MaxWait == 0 {
		c.MaxWait = outer.MaxWait
	}
	if c.MaxAttempts == 0 {
		c.MaxAttempts = outer.MaxAttempts
	}
	if c.Result == nil {
		c.Result = outer.Result
	}
	c.Idempotent = c.Idempotent || outer.Idempotent
	c.Bypass = c.Bypass || outer.Bypass
	return c
}

// Result is the record of one call. Its JSON has seconds as numbers.
type Result struct {
	Key      string // whose quota
	Attempts int    // requests sent, the first included; 0 = nothing was sent

	Waited    time.Duration // in the queue, by our own choice
	Held      time.Duration // because the server, or its refusal, imposed a hold on the key
	BackedOff time.Duration // between a failed attempt and the next

	Stop  Stop          // why there was no further attempt
	Asked time.Duration // the longest wait that a server asked for; 0 = none did
}

// MarshalJSON writes the record as described there.
func (r Result) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Key       string  `json:"key"`
		Attempts  int     `json:"attempts"`
		Waited    float64 `json:"waited"`
		Held      float64 `json:"held"`
		BackedOff float64 `json:"backed_off"`
		Stop      Stop    `json:"stop"`
		Asked     float64 `json:"asked,omitempty"`
	}{r.Key, r.Attempts, r.Waited.Seconds(), r.Held.Seconds(), r.BackedOff.Seconds(), r.Stop, r.Asked.Seconds()})
}

// Stop says why a call ended.
type Stop uint8

// The reasons to stop.
const (
	Finished          Stop = iota // an answer that needs no further attempt
	AttemptsSpent                 // as many attempts as allowed
	HoldTooLong                   // the server asked for more than the max hold
	WaitTooLong                   // the waits of the call would exceed its max wait; with Bypass, any wait does
	DeadlineTooNear               // the context's deadline comes before the next attempt could
	BodyNotReplayable             // the request's body cannot be sent again
	NotIdempotent                 // it may have been processed, and must not be repeated
	HopelessRefusal               // a refusal that no waiting heals
	RetryBudgetSpent              // retries of failures were a fifth of the key's calls already
	Cancelled                     // the caller's context ended, or the transport was closed
	QueueFull                     // as many others waited as may
	Inadmissible                  // it could never leave: its cost is invalid or more than a budget can hold, or the policy function refused it
)

var stopNames = [...]string{"finished", "attempts spent", "hold too long", "wait too long", "deadline too near",
	"body not replayable", "not idempotent", "hopeless refusal", "retry budget spent", "cancelled", "queue full", "inadmissible"}

// String is the reason in words.
func (s Stop) String() string { return nameOf(stopNames[:], uint8(s)) }

// MarshalText is the reason in words.
func (s Stop) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func nameOf(names []string, i uint8) string {
	if int(i) < len(names) {
		return names[i]
	}
	return "unknown"
}

// ResultOf is the record of the call that resp answered, and whether resp came through a Transport. The record travels with resp.Request, so
// it survives whoever wraps the body.
func ResultOf(resp *http.Response) (Result, bool) {
	x := exchangeOf(resp)
	if x == nil {
		return Result{}, false
	}
	return x.result, true
}

// Settle replaces the estimated cost of the call that resp answered by the actual one: what was too much is given back, what was
// too little becomes debt. Units that actual does not name keep their estimate. It works once per call and reports whether it did.
func Settle(resp *http.Response, actual budget.Cost) bool {
	x := exchangeOf(resp)
	return x != nil && x.settle(actual)
}

func exchangeOf(resp *http.Response) *exchange {
	if resp == nil || resp.Request == nil {
		return nil
	}
	x, _ := resp.Request.Context().Value(exchangeKey{}).(*exchange)
	return x
}
