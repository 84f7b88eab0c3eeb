package throttle

import "time"

// ticket is what a call has taken from its lane, until the end of its answer: what it is to be given back by. The lane's mutex guards
// it once the call has entered.
type ticket struct {
	class      *class // set when it enters
	cost       cost
	left       time.Time // when it was admitted
	order      uint64    // among those admitted
	generation uint64    // of the hold then
	bankID     uint64    // 1 + what the bank knows it by; 0 = not at all
	flight     *flight   // set while it is in flight
	open       bool      // sent, and no answer has come
	mute       bool      // no answer will come: it proves nothing to the gate
}
