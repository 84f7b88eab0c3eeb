package job

import (
	"context"
	"time"
)

// flight is one call from its start to the end of its answer, over all its attempts.
type flight struct {
	brake  *Brake
	ctx    context.Context
	cancel context.CancelCauseFunc
	moved  func(away bool) // told when that changes; may be nil

	// The brake's lock guards these.
	away bool      // an attempt was sent, and no other has to follow as far as is known
	made int       // attempts that were sent
	sent time.Time // when the last attempt was
	doom bool      // its answer will stop the job
}

type flightKey struct{}

// begin starts a call, whose changes between waiting and being under way moved is told; end it by flight.end.
func (b *Brake) begin(moved func(away bool)) *flight {
	f := &flight{brake: b, moved: moved}
	ctx, cancel := context.WithCancelCause(b.ctx)
	f.ctx, f.cancel = context.WithValue(ctx, flightKey{}, f), cancel
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flights[f] = struct{}{}
	if b.stop.Kind != NotStopped {
		f.dropLocked()
	}
	return f
}

// end is true if the call was under way to the last.
func (f *flight) end() (away bool) {
	f.brake.mu.Lock()
	defer f.brake.mu.Unlock()
	delete(f.brake.flights, f)
	f.cancel(nil)
	return f.away
}

func (f *flight) setAwayLocked(away bool) {
	if f.away != away && f.moved != nil {
		f.moved(away)
	}
	f.away = away
}

// dropLocked lets go of a call that is not under way.
func (f *flight) dropLocked() {
	if !f.away {
		f.cancel(errStopped)
	}
}

// takeOff marks an attempt as sent, unless the job was stopped before, or is about to be.
func (f *flight) takeOff(now time.Time) error {
	f.brake.mu.Lock()
	defer f.brake.mu.Unlock()
	if f.brake.stop.Kind != NotStopped || f.brake.doomed {
		f.dropLocked()
		return errStopped
	}
	f.setAwayLocked(true)
	f.made, f.sent = f.made+1, now
	return nil
}

// ground keeps all others on the ground: what this call was told concerns them too. Whoever ends this call must pull the brake.
func (f *flight) ground() {
	f.brake.mu.Lock()
	defer f.brake.mu.Unlock()
	f.doom, f.brake.doomed = true, true
}

// grounds tells whether this call has grounded the others.
func (f *flight) grounds() bool {
	f.brake.mu.Lock()
	defer f.brake.mu.Unlock()
	return f.doom
}

// turnBack says that the attempt failed and another may follow, which a stopped job does not wait for.
func (f *flight) turnBack() {
	f.brake.mu.Lock()
	defer f.brake.mu.Unlock()
	f.setAwayLocked(false)
	if f.brake.stop.Kind != NotStopped {
		f.dropLocked()
	}
}

// sends is how many attempts were sent, and when the last was.
func (f *flight) sends() (n int, last time.Time) {
	f.brake.mu.Lock()
	defer f.brake.mu.Unlock()
	return f.made, f.sent
}

// stopped tells whether the job's stop is what ended this call.
func (f *flight) stopped() bool { return context.Cause(f.ctx) == errStopped }
