package throttle

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// errNoResponse is for a base that breaks the contract.
var errNoResponse = errors.New("throttle: the base transport returned neither a response nor an error")

// outcome is what came of one attempt.
type outcome struct {
	resp *http.Response
	err  error
	kind outcomeKind

	safe   bool // it was not processed, or the server itself asks for a repetition: any method may be sent again
	unsent bool // nothing reached the server: what it cost is given back

	asked time.Duration // the wait that the server asked for; 0 = none
	pause time.Duration // the backoff before the next attempt
}

type outcomeKind uint8

const (
	final    outcomeKind = iota // an answer, or an error, that no repetition helps
	refused                     // for rate: it was not processed
	failed                      // a fault
	hopeless                    // refused for a reason that waiting does not heal
)

func (o *outcome) status() int {
	if o.resp == nil {
		return 0
	}
	return o.resp.StatusCode
}

// attempt waits its turn, sends the request once, and learns from the answer.
func (x *exchange) attempt() outcome {
	if err := x.enter(); err != nil {
		return outcome{err: err}
	}
	body, err := x.nextBody()
	if err != nil {
		x.leaving = false
		x.lane.lose(&x.ticket, true, false)
		return outcome{err: err}
	}
	x.result.Attempts++
	x.leaving = false
	return x.send(x.outgoing(body))
}

// enter waits until the lane lets the call go, and adds up for how long and why.
func (x *exchange) enter() error {
	x.renew()
	err := x.lane.enter(x.ctx.Context, &x.w)
	for err == errGone {
		if err = x.find(x.result.Key); err == nil {
			x.renew()
			err = x.lane.enter(x.ctx.Context, &x.w)
		}
	}
	x.leaving = err == nil
	if x.w.ready == nil {
		x.sent = x.w.start
		if err == nil {
			x.spared(x.w.spared)
			return nil
		}
	} else {
		x.sent = time.Now()
		x.waited(x.sent.Sub(x.w.start))
		if err == nil && x.sent.Sub(x.w.start) > freshEstimate {
			x.estimateAgain()
		}
	}
	if err != nil {
		return x.drop(err)
	}
	return nil
}

// renew makes the waiter ready for another round in the lane.
func (x *exchange) renew() {
	x.w.ready, x.w.err, x.w.passed, x.w.held = nil, nil, 0, 0
	x.w.attempts, x.w.again = x.result.Attempts, x.result.Attempts > 0
	x.allow()
}

// allow sets what is left of the max wait: to the caller waits, holds and backoffs are all waiting.
func (x *exchange) allow() {
	x.w.maxWait = x.call.MaxWait
	if x.w.maxWait == 0 {
		x.w.maxWait = x.t.cfg.maxWait
	}
	if x.w.bypass || x.w.maxWait < 0 {
		x.w.maxWait = NoWait
	}
	if x.w.maxWait > 0 {
		if x.w.maxWait -= x.result.Waited + x.result.Held + x.result.BackedOff; x.w.maxWait <= 0 {
			x.w.maxWait = NoWait
		}
	}
}

// waited books a time in the queue: what the server imposed, and what was ours.
func (x *exchange) waited(d time.Duration) {
	x.result.Held += x.w.held
	x.result.Waited += d - x.w.held
	if x.observed() {
		x.tellWait(d)
	}
}

// tellWait tells the observers of a time in the queue.
func (x *exchange) tellWait(d time.Duration) {
	if x.w.held > 0 {
		x.emit(Event{Kind: KindWait, Cause: CauseHold, Duration: x.w.held, Attempt: x.result.Attempts + 1})
	}
	if own := d - x.w.held; own > 0 {
		x.emit(Event{Kind: KindWait, Cause: x.w.cause, Budget: x.w.by, Duration: own, Attempt: x.result.Attempts + 1})
	}
}

// spared tells what a call that never waits would have waited for.
func (x *exchange) spared(r *ruling) {
	if r == nil || !r.at.After(x.w.start) {
		return // almost always
	}
	e := Event{Kind: KindBypass, Cause: r.cause, Budget: r.by.String(), Attempt: x.result.Attempts + 1}
	if r.at.Before(never) {
		e.Duration = r.at.Sub(x.w.start)
	}
	x.emit(e)
}

// send makes one round trip over the base.
func (x *exchange) send(out *http.Request) outcome {
	var timer *time.Timer
	x.cancel = nil
	if d := x.t.cfg.attemptTimeout; d > 0 {
		var ctx context.Context
		ctx, x.cancel = context.WithCancelCause(&x.ctx)
		out = out.WithContext(ctx)
		cancel := x.cancel
		timer = time.AfterFunc(d, func() { cancel(ErrAttemptTimeout) })
	}
	x.closed, x.learned = true, false // the base closes the body from here on, whatever comes
	resp, err := x.t.base.RoundTrip(out)
	x.received = time.Now()
	if timer != nil && !timer.Stop() && err == nil { // the context has ended: a response that came in the same moment has a broken body
		err = ErrAttemptTimeout
	}
	if err == nil && resp == nil {
		err = errNoResponse
	}
	if resp != nil && resp.Body == nil {
		resp.Body = http.NoBody
	}
	if err != nil {
		return x.lost(resp, out.Context(), err)
	}
	if resp.Request != out && exchangeOf(resp) != x { // a base that answers for another request: the record would be lost
		resp.Request = out
	}
	x.resp = resp
	return x.answered(resp)
}

// lost books an attempt that brought no answer. ctx is that of the attempt; a response beside an error is against the contract, and closed.
func (x *exchange) lost(resp *http.Response, ctx context.Context, err error) outcome {
	if resp != nil {
		resp.Body.Close()
	}
	if x.ctx.Err() == nil && context.Cause(ctx) == ErrAttemptTimeout {
		err = ErrAttemptTimeout
	}
	x.release()
	o := classifyError(x.ctx.Context, x.req, err)
	held := x.lane.lose(&x.ticket, o.unsent, o.kind == failed && err != ErrAttemptTimeout)
	x.emit(Event{Kind: KindSend, Attempt: x.result.Attempts, Duration: x.received.Sub(x.sent), Err: err})
	x.tellHold(held, &o)
	return o
}

// tellHold tells the observers of a hold that the attempt brought about, if it did.
func (x *exchange) tellHold(held time.Duration, o *outcome) {
	if held <= 0 {
		return
	}
	cause := CauseHold
	if o.kind == failed {
		cause = CauseOutage
	}
	x.emit(Event{Kind: KindHold, Cause: cause, Duration: held, Attempt: x.result.Attempts, Status: o.status(), Err: o.err})
}

// answered reads what an answer says, and tells the lane.
func (x *exchange) answered(resp *http.Response) outcome {
	if x.skims(resp) {
		o := outcome{resp: resp}
		x.learned = true
		if x.observed() {
			x.tell(&o, lesson{})
		}
		return o
	}
	r := x.t.readers.Get().(*reader)
	braced := r.glance(x.t.cfg, &x.lane.shape, resp, x.received)
	if braced {
		x.lane.brace(x.received)
	}
	o := r.read(x.t.cfg, resp)
	learned := x.lane.learn(&x.w, &answer{
		sent: x.sent, received: x.received, braced: braced, kind: o.kind, status: resp.StatusCode, report: &r.report, header: resp.Header,
	})
	x.learned = true
	x.t.readers.Put(r)
	x.result.Asked = max(x.result.Asked, o.asked)
	if x.observed() {
		x.tell(&o, learned)
	}
	return o
}

// tell tells the observers of an answer, and of what it changed.
func (x *exchange) tell(o *outcome, learned lesson) {
	x.emit(Event{Kind: KindSend, Attempt: x.result.Attempts, Status: o.status(), Duration: x.received.Sub(x.sent)})
	x.tellHold(learned.held, o)
	if learned.news {
		x.emit(Event{Kind: KindLearn, Attempt: x.result.Attempts, Status: o.status()})
	}
}
