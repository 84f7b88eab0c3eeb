package throttle

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Observer is told what happens. It is called without any lock held, from the goroutines that make the calls, so it must be safe for
// concurrent use and should be quick. It cannot change a decision; a panic in it is swallowed.
type Observer interface {
	Observe(ctx context.Context, e Event)
}

// ObserverFunc is a function as an Observer.
type ObserverFunc func(ctx context.Context, e Event)

// Observe calls f.
func (f ObserverFunc) Observe(ctx context.Context, e Event) { f(ctx, e) }

// WithObserveOnly leaves the traffic as it is: every call is sent at once, and once, as with Call.Bypass. Limits are counted and learned, and KindBypass
// events tell what calls would have waited: for a look at a transport before it is trusted.
func WithObserveOnly() Option {
	return single("WithObserveOnly", true, func(c *config) { c.observeOnly = true })
}

// WithObserver adds an observer. It may be given several times.
func WithObserver(o Observer) Option {
	return func(c *config) error {
		if o == nil {
			return errors.New("WithObserver: the observer is nil")
		}
		c.observers = append(c.observers, o)
		return nil
	}
}

// Event is one thing that happened. It never holds a credential, a path or a query of a request. Its JSON has seconds as numbers, the error as
// text, and leaves out what does not apply.
type Event struct {
	Kind     Kind          // what happened
	Key      string        // whose quota
	Budget   string        // the budget that a Wait ended with, or that a Bypass or a Drop would have waited for, when it was one: as in LimitError
	Cause    Cause         // why, for waits, bypasses, holds, retries and drops; of a Wait for several things, the last one
	Duration time.Duration // how long: of the wait, the hold, the backoff, the round trip
	Attempt  int           // counts from 1; 0 when no attempt was concerned
	Status   int           // of the answer, when there was one
	Err      error         // of a Drop or a Degraded; of a Send, Hold, Retry or Done whose attempt failed without an answer
	Result   Result        // with Done: the whole record
}

// MarshalJSON writes the event as described there.
func (e Event) MarshalJSON() ([]byte, error) {
	j := struct {
		Kind     Kind    `json:"kind"`
		Key      string  `json:"key"`
		Budget   string  `json:"budget,omitempty"`
		Cause    string  `json:"cause,omitempty"`
		Duration float64 `json:"duration,omitempty"`
		Attempt  int     `json:"attempt,omitempty"`
		Status   int     `json:"status,omitempty"`
		Err      string  `json:"err,omitempty"`
		Result   *Result `json:"result,omitempty"`
	}{Kind: e.Kind, Key: e.Key, Budget: e.Budget, Duration: e.Duration.Seconds(), Attempt: e.Attempt, Status: e.Status}
	if e.Cause != CauseNone {
		j.Cause = e.Cause.String()
	}
	if e.Err != nil {
		j.Err = e.Err.Error()
	}
	if e.Kind == KindDone {
		j.Result = &e.Result
	}
	return json.Marshal(j)
}

// Kind says what happened.
type Kind uint8

// The kinds of events.
const (
	KindWait      Kind = iota // a call has waited: Duration, Cause
	KindBypass                // a call did not wait, though it would have had to: Duration with nobody ahead of it, 0 = unknown; Cause
	KindSend                  // an attempt was answered or failed: Status or Err, Duration of the round trip
	KindHold                  // a key was put on hold: Duration, Cause
	KindRetry                 // a further attempt follows: Attempt is the one that ended, Duration and Cause those of its backoff
	KindLearn                 // an answer changed what is known of a budget
	KindSettle                // an estimated cost was replaced by the actual one
	KindDrop                  // a call was refused here: Err, Duration the wait it would have taken
	KindDegraded              // the shared store went away, or came back: Err, nil when it is back
	KindForgotten             // a response body was never closed; its slot is back
	KindDone                  // a call ended: Result, Status or Err
)

var kindNames = [...]string{"wait", "bypass", "send", "hold", "retry", "learn", "settle", "drop", "degraded", "forgotten", "done"}

// String is the kind in one word.
func (k Kind) String() string { return nameOf(kindNames[:], uint8(k)) }

// MarshalText is the kind in one word.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Cause says why a call waits. A wait is our own choice, a hold is the server's, a backoff follows a failure; they are never mixed.
type Cause uint8

// The causes.
const (
	CauseNone         Cause = iota // nothing made it wait
	CauseBudget                    // a budget has too little left
	CauseInFlight                  // as many calls are in flight as may be
	CauseAdaptive                  // earlier refusals showed that more would be refused
	CauseFirstContact              // one call goes first, the others follow its answer
	CauseQueue                     // others are ahead
	CauseHold                      // the server named a time, or refused
	CauseOutage                    // one call after the other has failed
	CauseBackoff                   // an attempt failed
)

var causeNames = [...]string{"none", "budget", "in flight", "adaptive limit", "first contact", "queue", "hold", "outage", "backoff"}

// String is the cause in words.
func (c Cause) String() string { return nameOf(causeNames[:], uint8(c)) }

// MarshalText is the cause in words.
func (c Cause) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// observers calls every observer; one that panics harms nobody.
type observers []Observer

func (os observers) emit(ctx context.Context, e Event) {
	for _, o := range os {
		observe(ctx, o, e)
	}
}

func observe(ctx context.Context, o Observer, e Event) {
	defer func() { _ = recover() }()
	o.Observe(ctx, e)
}
