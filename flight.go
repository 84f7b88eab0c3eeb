package throttle

import "time"

// flight is one call between its sending and the end of its answer. It stands apart from the call, so that the lane does not keep alive an
// answer that everybody else has forgotten.
type flight struct {
	since      time.Time
	prev, next *flight
}

// flights is the calls in flight, oldest first, and spare records for the next ones. The zero value is empty.
type flights struct {
	oldest, newest *flight
	spare          *flight
	len            int
}

// start adds a flight.
func (f *flights) start(now time.Time) *flight {
	one := f.spare
	if one == nil {
		one = new(flight)
	} else {
		f.spare = one.next
	}
	*one = flight{since: now, prev: f.newest}
	if f.newest == nil {
		f.oldest = one
	} else {
		f.newest.next = one
	}
	f.newest = one
	f.len++
	return one
}

// end takes a flight out.
func (f *flights) end(one *flight) {
	if one.prev == nil {
		f.oldest = one.next
	} else {
		one.prev.next = one.next
	}
	if one.next == nil {
		f.newest = one.prev
	} else {
		one.next.prev = one.prev
	}
	*one = flight{next: f.spare}
	f.spare = one
	f.len--
}
