package job

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Kind says what stopped a job.
type Kind uint8

// The kinds. NotStopped is the zero value.
const (
	NotStopped  Kind = iota
	Interrupted      // the user said so
	Deadline         // the job's time was over
	Account          // the server refuses the account: a wrong key, no money, a spent quota
	Hold             // the server, or the day's budget, asks for a longer wait than is sensible to sleep
	Redirect         // the server names another place for requests
	Unreachable      // one request after the other gets no answer
	Spent            // the job's own cap on tokens
	NoOutput         // results cannot be written
	NoInput          // requests cannot be read
)

// Stop is why a job ended before its work was done. The zero value is a job that was not stopped.
type Stop struct {
	Kind  Kind
	Text  string    // one sentence without its full stop
	Until time.Time // when going on makes sense again; zero = unknown
	Err   error     // behind it; may be nil
}

// errStopped ends the calls that had not been sent when the job was stopped.
var errStopped = errors.New("the job was stopped")

// Brake stops a job: nothing new begins, calls that only wait are let go unsent, those under way get a grace to end. Safe for concurrent use.
type Brake struct {
	grace  time.Duration
	ctx    context.Context // of the calls under way
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	stop    Stop
	doomed  bool // an answer was seen that will stop the job: nothing is sent any more
	pulled  chan struct{}
	flights map[*flight]struct{}
	timer   *time.Timer
}

// NewBrake is a brake whose calls under way may take that long to end once it is pulled. Release it when the job is over.
func NewBrake(ctx context.Context, grace time.Duration) *Brake {
	b := &Brake{grace: grace, pulled: make(chan struct{}), flights: map[*flight]struct{}{}}
	b.ctx, b.cancel = context.WithCancelCause(ctx)
	return b
}

// Pull stops the job. Only the first reason counts, and none after the release.
func (b *Brake) Pull(s Stop) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stop.Kind != NotStopped || b.ctx.Err() != nil {
		return
	}
	b.stop = s
	close(b.pulled)
	b.timer = time.AfterFunc(b.grace, b.Cut)
	for f := range b.flights {
		f.dropLocked()
	}
}

// Cut ends the calls under way at once: the grace is over, or was cut short.
func (b *Brake) Cut() { b.cancel(errStopped) }

// Release frees what the brake holds.
func (b *Brake) Release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timer != nil {
		b.timer.Stop()
	}
	b.cancel(nil)
}

// Pulled is closed when the brake is pulled.
func (b *Brake) Pulled() <-chan struct{} { return b.pulled }

// Stop is why the brake was pulled.
func (b *Brake) Stop() Stop {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stop
}

func (b *Brake) isPulled() bool {
	select {
	case <-b.pulled:
		return true
	default:
		return false
	}
}
