package throttletest

import (
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// pool is the limits that one group of calls shares. All of them admit a call, and are charged for it at once, or none is.
type pool struct {
	counters []*counter
	foreign  *foreigner // nil: nobody else draws
	begun    time.Time  // from when changes of limits count
	open     bool       // the first call of the pool was there
}

// counter is a limit with its running state.
type counter struct {
	Limit
	law law
	due []change // still to come

	toldAt time.Time // when the frozen figure was looked up
	told   float64
}

// frozen is what the server says is left if it looks only every so often.
func (c *counter) frozen(now time.Time, every time.Duration, left float64) float64 {
	if every == 0 {
		return left
	}
	if c.toldAt.IsZero() || now.Sub(c.toldAt) >= every {
		c.toldAt, c.told = now, left
	}
	return c.told
}

func newPool(limits []Limit, f *foreigner, begun time.Time) *pool {
	p := &pool{foreign: f, begun: begun}
	for _, l := range limits {
		p.counters = append(p.counters, &counter{Limit: l, law: l.law(), due: l.changes})
	}
	return p
}

// amount is what a cost takes of one unit. A cost that does not speak of requests is one request; what is below zero, or no
// number, is nothing.
func amount(c budget.Cost, unit string) float64 {
	n, told := c[unit]
	switch {
	case !told && unit == budget.Requests:
		return 1
	case n > 0:
		return n
	default:
		return 0
	}
}

// advance plays what happened at the server on its own until now.
func (p *pool) advance(now time.Time) {
	if !p.open {
		p.begin(now)
	}
	for p.foreign != nil && !p.foreign.next.After(now) {
		at := p.foreign.next
		p.change(at)
		p.foreign.call(p, at)
	}
	p.change(now)
}

func (p *pool) begin(now time.Time) {
	p.open = true
	for _, c := range p.counters {
		if c.drawn > 0 {
			c.law.take(now, c.drawn, &stay{end: now})
		}
	}
	if p.foreign != nil {
		p.foreign.begin(now)
	}
}

// change applies the changes of limits that are due.
func (p *pool) change(now time.Time) {
	for _, c := range p.counters {
		for len(c.due) > 0 && !p.begun.Add(c.due[0].after).After(now) {
			c.law.resize(p.begun.Add(c.due[0].after), c.due[0].units)
			c.due = c.due[1:]
		}
	}
}

// nextChange is when the next change of a limit is due, if any is.
func (p *pool) nextChange() (at time.Time, ok bool) {
	for _, c := range p.counters {
		if len(c.due) == 0 {
			continue
		}
		if t := p.begun.Add(c.due[0].after); !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	return at, ok
}

// obstacle is why a call is refused.
type obstacle struct {
	*counter               // the limit that it would have to wait for the longest
	wait     time.Duration // until all limits would admit it
	known    bool
}

// obstacle returns nil if a call of this cost is admitted at now.
func (p *pool) obstacle(now time.Time, cost budget.Cost) *obstacle {
	var o *obstacle
	for _, c := range p.counters {
		n := amount(cost, c.unitOf())
		if n == 0 {
			continue
		}
		d, known := c.law.wait(now, n)
		if known && d == 0 {
			continue
		}
		if o == nil {
			o = &obstacle{c, d, known}
			continue
		}
		if d > o.wait {
			o.counter, o.wait = c, d
		}
		o.known = o.known && known
	}
	return o
}

// take charges every limit and says how long the call stands in the server's queue.
func (p *pool) take(now time.Time, cost budget.Cost, s *stay) (queued time.Duration) {
	for _, c := range p.counters {
		if n := amount(cost, c.unitOf()); n > 0 {
			queued = max(queued, c.law.take(now, n, s))
		}
	}
	return queued
}

// refuse charges the limits that count refusals.
func (p *pool) refuse(now time.Time, cost budget.Cost) {
	for _, c := range p.counters {
		if n := amount(cost, c.unitOf()); c.harsh && n > 0 {
			c.law.refuse(now, n)
		}
	}
}

// settle corrects what a call was charged to what it used.
func (p *pool) settle(now, charged time.Time, was, is budget.Cost) {
	for _, c := range p.counters {
		if n := amount(was, c.unitOf()) - amount(is, c.unitOf()); n != 0 {
			c.law.give(now, charged, n)
		}
	}
}
