package bank

import "time"

// Kind is a way to count.
type Kind uint8

// The kinds. None is the zero value: nothing was turned away yet.
const (
	None        Kind = iota
	InFlight         // calls that the server is working on
	ClockWindow      // calls in windows that follow each other
	SlidingLog       // calls in the last so many seconds
	HarshLog         // the same, and refused calls count
	Leak             // a bucket that leaks
	Share            // no law of our own sends: others draw on the same quota
)

// State is a law as it is believed. Its zero value says that none is.
type State struct {
	Kind   Kind
	Limit  float64       // calls per Window, or in flight; for a Leak the burst
	Window time.Duration // what Limit is counted over; zero in flight; for a Leak the time that one call takes to leak
	Rate   float64       // calls per second, of a Leak or a Share; else zero
	Proven bool          // the law was right at least twice at its own boundary
}

// State says what law is obeyed.
func (b *Bank) State(time.Time) State {
	if b.obeyed == nil {
		return State{}
	}
	s := b.obeyed.state()
	s.Proven = b.obeyed.right >= proofs
	return s
}
