package results

import "sync"

// Order lets results out in the order of their numbers, from 0. It holds what comes early; how much that may be is bounded by whoever gives the
// numbers out (see Free).
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

// Free is a semaphore: send to it before giving a number out. A place comes back when the result of the lowest open number is written.
func (o *Order) Free() chan<- struct{} { return o.free }

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
		if l == nil {
			continue
		}
		if err := o.out.Write(*l); err != nil {
			return err
		}
	}
}
