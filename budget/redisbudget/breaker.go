package redisbudget

import (
	"math/rand/v2"
	"sync"
	"time"
)

const (
	// probeFirst and probeMost bound the time between two probes: soon enough that nobody notices a hiccup, rare enough not to be
	// in the way of a server that starts.
	probeFirst = 100 * time.Millisecond
	probeMost  = 500 * time.Millisecond
	// probeSpread is the part of that time that is random, so that the processes do not all come back at once.
	probeSpread = 0.3
)

// breaker says when Redis may be asked again once it has failed: by one probe at a time. Its lock is the last to be taken. The
// zero value lets everything through.
type breaker struct {
	mu      sync.Mutex
	at      time.Time // of the next probe; zero while all is well
	probes  int
	probing bool
}

// fail notes that an ask has failed, and is when to ask next. Asks that were under way when the first one failed change nothing.
func (b *breaker) fail(now time.Time) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.at.IsZero() || b.probing {
		pause := min(probeMost, probeFirst<<min(b.probes, 10))
		b.at = now.Add(time.Duration(float64(pause) * (1 - probeSpread*rand.Float64())))
		b.probes++
		b.probing = false
	}
	return b.at
}

// mend notes that Redis has answered.
func (b *breaker) mend() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at, b.probes, b.probing = time.Time{}, 0, false
}

// allows reports whether Redis may be asked now.
func (b *breaker) allows(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.probing && !now.Before(b.at)
}

// claim is allows for the one who then does ask.
func (b *breaker) claim(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.probing || now.Before(b.at) {
		return false
	}
	b.probing = !b.at.IsZero()
	return true
}
