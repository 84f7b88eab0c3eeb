package throttle

import (
	"context"
	"math/rand/v2"
	"time"
)

// background is for events that belong to no call.
var background = context.Background()

// A hold is spread at its end, so that the processes that share a quota do not all come back in the same moment: a hundredth of the wait costs
// next to nothing, and within a process one call goes first anyway. It is only ever added: nobody comes back early.
const (
	spreadPart = 0.01
	spreadMost = 500 * time.Millisecond
)

func spread(wait time.Duration) time.Duration {
	return time.Duration(rand.Float64() * min(float64(wait)*spreadPart, float64(spreadMost)))
}

// holdFor lets nothing leave for d.
func (l *lane) holdFor(d time.Duration) {
	l.lock()
	now := time.Now()
	extended := l.hold.extend(now, now.Add(d), CauseHold)
	if extended {
		l.eachAccount(func(s *shared) { s.account.Hold(now.Add(d)) })
		l.gate.close()
		l.sweep(now)
		l.pump(now)
	}
	l.mu.Unlock()
	if extended {
		l.cfg.observers.emit(background, Event{Kind: KindHold, Key: l.key, Cause: CauseHold, Duration: d})
	}
}

// resume ends a hold, for all that share the key.
func (l *lane) resume() {
	l.lock()
	now := time.Now()
	l.hold.release(now)
	l.eachAccount(func(s *shared) { s.account.Resume() })
	l.pump(now)
	l.mu.Unlock()
}

// close ends every wait.
func (l *lane) close() {
	l.lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.gone = true
	l.eachAccount(func(s *shared) { s.account.Close() })
	for _, c := range l.order {
		c.queue.each(func(w *waiter) {
			l.fail(w, &LimitError{Key: l.key, Err: ErrClosed, Header: l.header, Attempts: w.attempts}, now)
		})
	}
	l.disarm()
	l.takeIn(now) // who has come since
}

// busy reports whether calls are under way that the lane must see the end of. An answer whose body is still open, or forgotten, is none unless
// slots are counted.
func (l *lane) busy() bool { return l.open > 0 || l.places.Load() > 0 && l.flights.len > 0 }

// retire marks a lane as gone if nobody has used it for long and all that it knows is stale, and reports whether it did.
func (l *lane) retire(now time.Time) bool {
	l.lock()
	defer l.mu.Unlock()
	if l.waiting > 0 || l.busy() || l.hold.active(now) || now.Sub(l.lastUse) < idleLife {
		return false
	}
	for _, c := range l.order {
		for _, m := range c.meters {
			if s := m.state(now); s.Used > 0 {
				return false // dropping it would give back what was spent
			}
		}
	}
	l.gone = true
	l.eachAccount(func(s *shared) { s.account.Close() })
	l.disarm()
	return true
}
