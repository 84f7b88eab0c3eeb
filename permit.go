package throttle

import (
	"context"
	"errors"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// Permit is the right to do one piece of work that is not HTTP. The first of Done and Cancel ends it; another one has no effect. Safe for
// concurrent use.
type Permit struct {
	x    exchange
	call Call
}

// Acquire waits in the lane of c.Key until c.Cost may be spent. c is merged with a Call in ctx. An error is a *LimitError, or that of ctx,
// and means that nothing was spent.
func (t *Transport) Acquire(ctx context.Context, c Call) (*Permit, error) {
	p := newPermit(t, ctx, &c)
	if err := p.x.acquire(); err != nil {
		return nil, err
	}
	return p, nil
}

// newPermit is a permit that has not been given yet. It stands apart from Acquire, like all that copies much, for the sake of a crowd whose stacks need
// not grow then.
func newPermit(t *Transport, ctx context.Context, c *Call) *Permit {
	p := &Permit{x: exchange{t: t}}
	p.x.call, p.x.ctx = &p.call, exchangeContext{ctx, &p.x}
	p.call = *c
	if outer, ok := FromContext(ctx); ok {
		p.call = c.over(outer)
	}
	if p.call.Cost == nil {
		p.call.Cost = oneRequest // a cost function would want a request to look at
	}
	return p
}

// oneRequest is a cost that says so. It never changes.
var oneRequest = budget.Cost{}

// errNoKey is for a Call under Acquire that does not say whose quota it draws on: there is no request to tell it by.
var errNoKey = errors.New("the Call of an Acquire has no Key, which says whose quota it draws on")

// acquire waits until a call without a request may spend its cost.
func (x *exchange) acquire() error {
	x.start()
	err := x.introduce()
	if err == nil {
		err = x.enter()
	}
	x.rest() // not if the user's function panics, which may still hold on to parts of it
	if result := x.call.Result; result != nil {
		x.result.Stop = stopOf(err, Finished)
		*result = x.result
	}
	return err
}

// introduce works out what a call without a request is.
func (x *exchange) introduce() error {
	c := x.call
	x.result.Key = c.Key
	if c.Key == "" {
		return x.drop(&LimitError{Err: errNoKey})
	}
	if err := c.Cost.Validate(); err != nil {
		return x.drop(&LimitError{Key: c.Key, Err: err})
	}
	if err := x.find(c.Key); err != nil {
		return x.drop(err)
	}
	x.w.mute, x.w.priority, x.w.bypass = true, c.Priority, x.bypasses()
	x.w.deadline, _ = x.ctx.Deadline()
	return nil
}

// Settle replaces the cost that was acquired by the actual one, once, before Done or after it: what was too much is given back, what
// was too little becomes debt. Units that actual does not name keep their estimate.
func (p *Permit) Settle(actual budget.Cost) { p.x.settle(actual) }

// Done says that the work was done: its slot is free.
func (p *Permit) Done() {
	if p.x.finished.CompareAndSwap(false, true) {
		p.x.lane.leave(&p.x.ticket)
	}
}

// Cancel says that nothing was done: everything is given back, and there is nothing to settle any more.
func (p *Permit) Cancel() {
	if p.x.finished.CompareAndSwap(false, true) {
		p.x.lane.cancel(&p.x)
	}
}

// cancel gives back the slot and the units of a permit.
func (l *lane) cancel(x *exchange) {
	l.lock()
	now := time.Now()
	l.undo(&x.ticket, now)
	x.settled = true
	l.pump(now)
	l.mu.Unlock()
	l.all.give()
}
