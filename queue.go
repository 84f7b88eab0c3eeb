package throttle

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// waiter is one call that wants to leave: what it asks for, and how it is told. The lane's mutex guards what changes after it has entered.
type waiter struct {
	*ticket
	routes   routeSet      // those that its request matches
	req      *http.Request // nil under Acquire
	priority int
	deadline time.Time     // of its context; zero = none
	maxWait  time.Duration // what is left of its max wait; 0 = no bound, NoWait = none at all
	attempts int           // made before
	again    bool          // was sent before and refused: goes ahead of those never sent
	bypass   bool          // never waits

	start  time.Time     // when it began to wait
	heldAt time.Duration // the lane's hold clock at start
	passed float64       // what smaller calls took ahead of it, as a part of what it wants itself

	ready  chan struct{} // cap 1: a token says that flight or err is set; nil = it need not wait
	err    error         // why it will not be admitted
	held   time.Duration // how much of its wait was a hold
	cause  Cause         // what the rest was for, as last seen
	by     string        // the budget, if it was one
	spared *ruling       // of one that never waits: what it would have waited for; nil unless somebody is told

	seq        uint64 // order of arrival in the lane
	prev, next *waiter
	list       *list
	level      *level
}

// queued reports whether w stands in a queue.
func (w *waiter) queued() bool { return w.list != nil }

// waitsFor notes what w waits for besides a hold, which is booked apart.
func (w *waiter) waitsFor(r *ruling) {
	if r.cause != CauseHold && r.cause != CauseOutage {
		w.cause, w.by = r.cause, r.by.String()
	}
}

// cost is what a call takes, as the lane needs it: requests at hand, other units by name.
type cost struct {
	requests float64
	others   budget.Cost // nil for most calls
}

// newCost takes a copy of what a caller says.
func newCost(c budget.Cost) cost {
	if len(c) == 0 {
		return cost{requests: 1}
	}
	return cost{requests: c.Of(budget.Requests), others: c.Clone()}
}

// settled is c with the units that actual names as they really were.
func (c cost) settled(actual budget.Cost) cost {
	all := c.others.Clone()
	if all == nil {
		all = budget.Cost{}
	}
	maps.Copy(all, actual)
	c.others = all
	if n, told := actual[budget.Requests]; told {
		c.requests = n
	}
	return c
}

// costly reports whether it takes more than requests.
func (c cost) costly() bool { return len(c.others) > 0 && moreThanRequests(c.others) }

func moreThanRequests(c budget.Cost) bool {
	for unit, n := range c {
		if n > 0 && unit != budget.Requests {
			return true
		}
	}
	return false
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
	wants      wants
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
	l.wants.add(w.cost, 1)
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
	if l.len == 0 {
		l.wants = wants{} // exactly zero again, so that rounding does not pile up
		return
	}
	l.wants.add(w.cost, -1)
}

// wants is what the waiters of a list want together.
type wants struct {
	requests float64
	others   map[string]float64 // in other units; nil for most lists
}

func (s *wants) add(c cost, sign float64) {
	s.requests += sign * c.requests
	if len(c.others) > 0 {
		s.addOthers(c, sign)
	}
}

// addOthers stands apart from add because a loop over a map needs so much stack that each of a crowd's goroutines would have to grow for it.
func (s *wants) addOthers(c cost, sign float64) {
	for unit, n := range c.others {
		if s.others == nil {
			s.others = map[string]float64{}
		}
		s.others[unit] += sign * n
	}
}

func (s *wants) of(unit string) float64 {
	if unit == budget.Requests {
		return s.requests
	}
	return s.others[unit]
}

// level holds the waiters of one priority: those sent before, then the others.
type level struct {
	priority     int
	again, fresh list
}

func (v *level) head() *waiter {
	if v.again.head != nil {
		return v.again.head
	}
	return v.fresh.head
}

// queue holds the waiters of one class, by priority and then by arrival.
type queue struct {
	levels []*level // those that have waiters, highest priority first
	spare  *level   // an empty one
	len    int
}

func (q *queue) push(w *waiter) {
	w.level = q.level(w.priority)
	if w.again {
		w.level.again.push(w)
	} else {
		w.level.fresh.push(w)
	}
	q.len++
}

func (q *queue) remove(w *waiter) {
	v := w.level
	w.list.remove(w)
	w.level = nil
	q.len--
	if v.head() == nil {
		i, _ := q.find(v.priority)
		q.levels = slices.Delete(q.levels, i, i+1)
		q.spare = v
	}
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
	return q.levels[0].head()
}

// from is how many have at least that priority.
func (q *queue) from(priority int) (n int) {
	for _, v := range q.levels {
		if v.priority >= priority {
			n += v.again.len + v.fresh.len
		}
	}
	return n
}

// near reports whether w is among those that are looked at to find who may leave.
func (q *queue) near(w *waiter) bool {
	other := q.head()
	for i := 0; i <= lookPast && other != nil; i, other = i+1, other.next {
		if other == w {
			return true
		}
	}
	return false
}

// find is where the level of a priority stands, or would stand.
func (q *queue) find(priority int) (at int, found bool) {
	return slices.BinarySearchFunc(q.levels, priority, func(v *level, p int) int { return cmp.Compare(p, v.priority) })
}

// level finds or makes the level of a priority.
func (q *queue) level(priority int) *level {
	i, found := q.find(priority)
	if found {
		return q.levels[i]
	}
	v := q.spare
	if q.spare = nil; v == nil {
		v = new(level)
	}
	v.priority = priority
	q.levels = slices.Insert(q.levels, i, v)
	return v
}

// each visits every waiter in order.
func (q *queue) each(f func(*waiter)) {
	for _, v := range slices.Clone(q.levels) { // f may remove the last of a level
		for _, l := range [...]*list{&v.again, &v.fresh} {
			for w := l.head; w != nil; {
				next := w.next // f may remove w
				f(w)
				w = next
			}
		}
	}
}

// total is how many units all waiters want.
func (q *queue) total(unit string) (units float64) {
	for _, v := range q.levels {
		units += v.again.wants.of(unit) + v.fresh.wants.of(unit)
	}
	return units
}

// ahead is how many units the waiters want that leave before w, which does not stand in the queue yet or stands at the end of its list.
func (q *queue) ahead(w *waiter, unit string) (units float64) {
	for _, v := range q.levels {
		switch {
		case v.priority < w.priority:
			return units
		case v.priority > w.priority, !w.again:
			units += v.again.wants.of(unit) + v.fresh.wants.of(unit)
		default:
			units += v.again.wants.of(unit)
		}
	}
	return units
}
