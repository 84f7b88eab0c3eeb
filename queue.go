package throttle

import (
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// waiter is one call in a lane: what it wants, and how it is told. The lane's mutex guards what changes after it has entered.
type waiter struct {
	routes   routeSet // those that its request matches
	method   string   // and where it goes, to find its resource by; empty under Acquire
	path     string
	class    *class // set when it enters
	cost     cost
	priority int
	deadline time.Time     // of its context; zero = none
	maxWait  time.Duration // what is left of its max wait; 0 = no bound, NoWait = none at all
	attempts int           // made before
	again    bool          // was sent before and refused: goes ahead of those never sent
	bypass   bool          // never waits
	mute     bool          // no answer will come: it proves nothing to the gate

	start  time.Time     // when it began to wait
	heldAt time.Duration // the lane's hold clock at start
	passed float64       // units that smaller calls took ahead of it while it waited for them

	ready      chan struct{} // cap 1: a token says that flight or err is set
	left       time.Time     // when it was admitted
	bankID     uint64        // 1 + what the bank knows it by; 0 = not at all
	order      uint64        // among those admitted
	flight     *flight       // set while it is in flight
	err        error         // why it will not be admitted
	held       time.Duration // how much of its wait was a hold
	cause      Cause         // what the rest was for, when it began
	by         string        // the budget, if it was one
	generation uint64        // of the hold when it was admitted

	seq        uint64 // order of arrival in the lane
	prev, next *waiter
	list       *list
	level      *level
}

// queued reports whether w stands in a queue.
func (w *waiter) queued() bool { return w.list != nil }

// cost is what a call takes, as the lane needs it: requests at hand, other units by name.
type cost struct {
	requests float64
	others   budget.Cost // nil for most calls
}

func newCost(c budget.Cost) cost {
	if c == nil {
		return cost{requests: 1}
	}
	return cost{requests: c.Of(budget.Requests), others: c}
}

func (c cost) of(unit string) float64 {
	if unit == budget.Requests {
		return c.requests
	}
	return c.others[unit]
}

// list is a queue in order of arrival: linked, so that a cancelled waiter leaves in constant time wherever it stands.
type list struct {
	head, tail *waiter
	len        int
}

func (l *list) push(w *waiter) {
	w.list, w.prev, w.next = l, l.tail, nil
	if l.tail == nil {
		l.head = w
	} else {
		l.tail.next = w
	}
	l.tail = w
	l.len++
}

func (l *list) remove(w *waiter) {
	if w.prev == nil {
		l.head = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		l.tail = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.list, w.prev, w.next = nil, nil, nil
	l.len--
}

// level holds the waiters of one priority: those sent before, then the others.
type level struct {
	priority     int
	again, fresh list

	requests float64            // what all of them want
	others   map[string]float64 // the same in other units
}

// count adds what w wants, or takes it off with sign -1. An empty level is exactly zero again, so that rounding does not pile up.
func (v *level) count(w *waiter, sign float64) {
	if v.again.len+v.fresh.len == 0 {
		v.requests, v.others = 0, nil
		return
	}
	v.requests += sign * w.cost.requests
	for unit, n := range w.cost.others {
		if v.others == nil {
			v.others = map[string]float64{}
		}
		v.others[unit] += sign * n
	}
}

func (v *level) head() *waiter {
	if v.again.head != nil {
		return v.again.head
	}
	return v.fresh.head
}

// queue holds the waiters of one class, by priority and then by arrival.
type queue struct {
	levels []*level // highest priority first; few, and kept when empty
	len    int
}

func (q *queue) push(w *waiter) {
	v := q.level(w.priority)
	if w.again {
		v.again.push(w)
	} else {
		v.fresh.push(w)
	}
	w.level = v
	v.count(w, 1)
	q.len++
}

func (q *queue) remove(w *waiter) {
	w.list.remove(w)
	w.level.count(w, -1)
	q.len--
}

// before reports whether w leaves before other, when both may.
func (w *waiter) before(other *waiter) bool {
	if w.priority != other.priority {
		return w.priority > other.priority
	}
	if w.again != other.again {
		return w.again
	}
	return w.seq < other.seq
}

func (q *queue) head() *waiter {
	if q.len == 0 {
		return nil
	}
	for _, v := range q.levels {
		if w := v.head(); w != nil {
			return w
		}
	}
	return nil
}

// level finds or makes the level of a priority.
func (q *queue) level(priority int) *level {
	i := 0
	for i < len(q.levels) && q.levels[i].priority > priority {
		i++
	}
	if i < len(q.levels) && q.levels[i].priority == priority {
		return q.levels[i]
	}
	q.levels = append(q.levels, nil)
	copy(q.levels[i+1:], q.levels[i:])
	q.levels[i] = &level{priority: priority}
	return q.levels[i]
}

// each visits every waiter in order, until f says no.
func (q *queue) each(f func(*waiter) bool) {
	for _, v := range q.levels {
		for _, l := range [...]*list{&v.again, &v.fresh} {
			for w := l.head; w != nil; {
				next := w.next // f may remove w
				if !f(w) {
					return
				}
				w = next
			}
		}
	}
}

// ahead is how many units the waiters want that leave before a newcomer of this priority.
func (q *queue) ahead(priority int, unit string) (units float64) {
	for _, v := range q.levels {
		if v.priority < priority {
			break
		}
		if unit == budget.Requests {
			units += v.requests
		} else {
			units += v.others[unit]
		}
	}
	return units
}
