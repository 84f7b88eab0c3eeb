package results

import (
	"maps"
	"slices"
	"sync"
)

// Order lets results out in the order of their numbers, from 0. It holds what comes early; how much that may be is bounded by whoever gives the
// numbers out (see Reserve).
type Order struct {
	out *Output

	mu   sync.Mutex
	next int
	held map[int]*Line
	free chan struct{}
}

// NewOrder writes to out. At most window numbers may be open at a time.
func NewOrder(out *Output, window int) *Order {
	return &Order{out: out, held: map[int]*Line{}, free: make(chan struct{}, window)}
}

// Reserve waits until a further number may be given out: a place comes back when the result of the lowest open number is written. It is
// false if done is closed first.
func (o *Order) Reserve(done <-chan struct{}) bool {
	select {
	case o.free <- struct{}{}:
		return true
	case <-done:
		return false
	}
}

// Put takes the result of number n; nil says that there will be none. What can go out now is written.
func (o *Order) Put(n int, l *Line) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held[n] = l
	for {
		l, ok := o.held[o.next]
		if !ok {
			return nil
		}
		delete(o.held, o.next)
		o.next++
		<-o.free
		if err := o.out.put(l); err != nil {
			return err
		}
	}
}

// Flush writes what is still held, in order: of a job that was stopped some numbers have no result.
func (o *Order) Flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, n := range slices.Sorted(maps.Keys(o.held)) {
		if err := o.out.put(o.held[n]); err != nil {
			return err
		}
	}
	clear(o.held)
	return nil
}

// Unordered is an Output that takes results as they come.
type Unordered struct{ Out *Output }

// Reserve never waits.
func (u Unordered) Reserve(done <-chan struct{}) bool {
	select {
	case <-done:
		return false
	default:
		return true
	}
}

// Put writes l, if there is one.
func (u Unordered) Put(_ int, l *Line) error { return u.Out.put(l) }

func (o *Output) put(l *Line) error {
	if l == nil {
		return nil
	}
	return o.Write(*l)
}
