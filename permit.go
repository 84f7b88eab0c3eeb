package throttle

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// Permit is the right to do one piece of work that is not HTTP. Exactly one of Done and Cancel ends it; what comes after has no effect. Safe
// for concurrent use.
type Permit struct {
	x     exchange
	ended atomic.Bool
}

// Acquire waits in the lane of c.Key until c.Cost may be spent. c is merged with a Call in ctx. An error is a *LimitError, or that of ctx,
// and means that nothing was spent.
func (t *Transport) Acquire(ctx context.Context, c Call) (*Permit, error) {
	outer, _ := FromContext(ctx)
	c = c.over(outer)
	if c.Key == "" {
		return nil, errors.New("throttle: Acquire: the Call has no Key")
	}
	p := &Permit{x: exchange{t: t, call: c}}
	x := &p.x
	x.ctx = exchangeContext{ctx, x}
	x.result.Key = c.Key
	if err := c.Cost.Validate(); err != nil {
		return nil, &LimitError{Key: c.Key, Err: err}
	}
	if err := x.find(c.Key); err != nil {
		return nil, err
	}
	x.w.mute, x.w.priority = true, c.Priority
	x.w.deadline, _ = ctx.Deadline()
	if err := x.enter(); err != nil {
		return nil, err
	}
	return p, nil
}

// Settle replaces the cost that was acquired by the actual one, once: what was too much is given back, what was too little becomes debt.
func (p *Permit) Settle(actual budget.Cost) { p.x.settle(actual) }

// Done says that the work was done: its slot is free.
func (p *Permit) Done() {
	if p.ended.CompareAndSwap(false, true) {
		p.x.lane.leave(&p.x.w)
	}
}

// Cancel says that nothing was done: everything is given back.
func (p *Permit) Cancel() {
	if p.ended.CompareAndSwap(false, true) {
		p.x.lane.cancel(&p.x.w)
	}
}

// cancel gives back the slot and the units of a permit.
func (l *lane) cancel(w *waiter) {
	now := time.Now()
	l.mu.Lock()
	l.undo(w, now)
	l.pump(now)
	l.mu.Unlock()
	l.all.give()
}
