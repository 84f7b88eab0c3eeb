package throttle

import "time"

// flight is one call between its sending and the end of its answer. It stands apart from the call, so that the lane does not keep alive an
// answer that everybody else has forgotten.
type flight struct {
	since      time.Time
	costly     bool // it uses more than requests
	prev, next *flight
}

// flights is the calls in flight, oldest first, and spare records for the next ones. The zero value is empty.
type flights struct {
	oldest, newest *flight
	spare          *flight
	len            int
	costly         int // how many of them use more than requests
}

// start adds a flight.
func (f *flights) start(now time.Time, costly bool) *flight {
	one := f.spare
	if one == nil {
		one = new(flight)
	} else {
		f.spare = one.next
	}
	one.since, one.costly, one.prev, one.next = now, costly, f.newest, nil
	if costly {
		f.costly++
	}
	if f.newest == nil {
		f.oldest = one
	} else {
		f.newest.next = one
	}
	f.newest = one
	f.len++
	return one
}

// lookOld bounds how many old flights are looked at.
const lookOld = 256

// younger is how many flights have begun since then, of those alone that use more than requests, or of all.
func (f *flights) younger(then time.Time, costly bool) int {
	n := f.len
	if costly {
		n = f.costly
	}
	for one, i := f.oldest, 0; one != nil && i < lookOld && one.since.Before(then); one, i = one.next, i+1 {
		if one.costly || !costly {
			n--
		}
	}
	return n
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
	if one.costly {
		f.costly--
	}
	*one = flight{next: f.spare}
	f.spare = one
	f.len--
}
