package throttle

import "sync"

// total caps the calls in flight over all lanes. A lane that finds it full is parked, and asked again in turn when a slot comes back. A nil
// total caps nothing.
type total struct {
	mu     sync.Mutex
	free   int
	parked []*lane // in the order they found it full; each at most once
}

func newTotal(n int) *total {
	if n == 0 {
		return nil
	}
	return &total{free: n}
}

// take takes a slot for l, or parks l. It may be called with l's mutex held.
func (t *total) take(l *lane) bool {
	if t == nil {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free > 0 {
		t.free--
		return true
	}
	if !l.parked {
		l.parked = true
		t.parked = append(t.parked, l)
	}
	return false
}

// force takes a slot even if there is none, for calls that never wait.
func (t *total) force() {
	if t == nil {
		return
	}
	t.mu.Lock()
	t.free--
	t.mu.Unlock()
}

// give returns a slot, and pumps the parked lanes in turn while slots are free. No lane's mutex may be held.
func (t *total) give() {
	if t == nil {
		return
	}
	t.mu.Lock()
	t.free++
	t.mu.Unlock()
	for l := t.next(); l != nil; l = t.next() {
		l.kick()
	}
}

// next unparks the lane that has waited longest, if a slot is free for it.
func (t *total) next() *lane {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free <= 0 || len(t.parked) == 0 {
		return nil
	}
	l := t.parked[0]
	t.parked = t.parked[1:]
	l.parked = false
	return l
}
