package throttletest

import (
	"net/http"
	"time"
)

// Fault is something that goes wrong, on purpose, with one call. The zero Fault changes nothing.
type Fault struct {
	// Status, if not zero, is the answer, whatever the limits say: 200..599, and 500 for anything else. Nothing is charged
	// unless Charged is set.
	Status  int
	Charged bool
	// Header is set in the answer, over what is there; a nil value removes the field.
	Header http.Header
	// Body, if not nil, replaces that of the answer.
	Body []byte
	// Delay is added to the service time.
	Delay time.Duration

	// Reset breaks the connection before any byte of the answer.
	Reset bool
	// Torn breaks it after that many bytes of the body.
	Torn  bool
	After int64
	// Drip sends the body in pieces of 64 bytes with that time before each.
	Drip time.Duration
	// Pad adds that many bytes of white space to the body (JSON allows it); below zero it never ends.
	Pad int64
	// Upgrade answers 101 with this protocol and echoes what is sent from then on. Only for HTTP/1.1 and the handler.
	Upgrade string
}

// status is what a fault answers, 0 if it answers nothing.
func (f *Fault) status() int {
	if f.Status == 0 || isStatus(f.Status) {
		return f.Status
	}
	return http.StatusInternalServerError
}

// Statuses answers the first calls with these statuses, in order, and then no more: a 200 or a 0 among them is a call without a
// fault.
func Statuses(codes ...int) func(int, *http.Request) *Fault {
	return func(n int, _ *http.Request) *Fault {
		if n > len(codes) || codes[n-1] == 0 || codes[n-1] == http.StatusOK {
			return nil
		}
		return &Fault{Status: codes[n-1]}
	}
}

// FirstCalls gives the first count calls the same fault.
func FirstCalls(count int, f Fault) func(int, *http.Request) *Fault {
	return func(n int, _ *http.Request) *Fault {
		if n > count {
			return nil
		}
		return &f
	}
}
