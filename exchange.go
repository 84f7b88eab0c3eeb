package throttle

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// exchange is one call of RoundTrip with all its attempts, or one of Acquire. It lives as long as the response, or the permit, does.
type exchange struct {
	*round // nil when RoundTrip is over
	t      *Transport
	lane   *lane
	req    *http.Request // the caller's: never changed
	first  *http.Request // where its copy for the first attempt goes
	call   *Call         // what the caller asks for: never changed, never nil
	ctx    exchangeContext
	ticket ticket

	cancel   context.CancelCauseFunc // of its own context; nil without an attempt timeout
	resp     *http.Response          // its answer, while it is in nobody else's hands
	leaving  bool                    // the lane lets it go, and it is not sent yet
	learned  bool                    // the lane knows of that answer
	nested   bool                    // another Transport of this package is outside, and does the retrying
	closed   bool                    // the caller's body has been handed to the base, which closes it
	ended    atomic.Bool             // RoundTrip is over
	finished atomic.Bool             // and so is the answer's body, or the work that a permit is for

	body    answerBody // of the answer that is handed out, see watch
	result  Result
	settled bool // guarded by lane.mu
}

// requestExchange is an exchange and the request that its first attempt sends: one allocation for both.
type requestExchange struct {
	exchange
	request http.Request
}

func newExchange(t *Transport, req *http.Request) *exchange {
	whole := new(requestExchange)
	x := &whole.exchange
	x.t, x.req, x.first, x.call = t, req, &whole.request, &plainCall
	x.ctx = exchangeContext{req.Context(), x}
	return x
}

// round is what an exchange needs as long as RoundTrip runs; the next one uses it again.
type round struct {
	w              waiter
	sent, received time.Time // when the current attempt left, and when its answer, or its error, came
}

// start takes what is needed while RoundTrip runs.
func (x *exchange) start() {
	x.round = x.t.rounds.Get().(*round)
	x.w.ticket = &x.ticket
}

// rest gives it back.
func (x *exchange) rest() {
	r := x.round
	x.round = nil
	r.w = waiter{}
	x.t.rounds.Put(r)
}

// exchangeContext carries the exchange to whoever sees the request: to ResultOf by way of the response, and to a Transport further in.
type exchangeContext struct {
	context.Context
	x *exchange
}

type exchangeKey struct{}

// Value is the exchange under its key.
func (c *exchangeContext) Value(key any) any {
	if key == (exchangeKey{}) {
		return c.x
	}
	return c.Context.Value(key)
}

// begin works out once what the request is.
func (x *exchange) begin() error {
	req := x.req
	if req.URL == nil {
		return errors.New("throttle: the request has no URL")
	}
	if c, ok := req.Context().Value(callKey{}).(*Call); ok {
		x.call = c
		if foreignHop(req) {
			here := *c
			here.Key, here.Cost = "", nil
			x.call = &here
		}
	}
	outer, _ := req.Context().Value(exchangeKey{}).(*exchange)
	x.nested = outer != nil && !outer.ended.Load()
	if x.result.Key = x.call.Key; x.result.Key == "" {
		x.result.Key = x.t.cfg.key(req)
	}
	if err := x.call.Cost.Validate(); err != nil {
		return &LimitError{Key: x.result.Key, Err: err}
	}
	if err := x.find(x.result.Key); err != nil {
		return err
	}
	x.w.priority, x.w.bypass = x.call.Priority, x.bypasses()
	x.w.deadline, _ = req.Context().Deadline()
	return nil
}

// bypasses reports whether the call never waits.
func (x *exchange) bypasses() bool { return x.call.Bypass || x.t.cfg.observeOnly }

// foreignHop reports whether req is a redirect that led to another host: there the caller's key and cost mean nothing.
func foreignHop(req *http.Request) bool {
	from := req.Response
	if from == nil || from.Request == nil {
		return false
	}
	return ByHost(from.Request) != ByHost(req)
}

// find looks up the lane, and what the call costs there.
func (x *exchange) find(key string) (err error) {
	if x.lane, err = x.t.lane(x.ctx.Context, key, x.req); err != nil {
		return err
	}
	c := x.call.Cost
	if c == nil && x.t.cfg.cost != nil && x.lane.countsUnits() {
		c = x.t.cfg.cost(x.req)
		if err := c.Validate(); err != nil {
			return &LimitError{Key: key, Err: err}
		}
		if n, told := c[budget.Requests]; told && n != 1 {
			x.lane.weighted.Store(true)
		}
	}
	x.w.req, x.ticket.cost = x.req, newCost(c)
	x.w.routes = x.t.cfg.routes.set(x.req)
	return nil
}

// freshEstimate is how old an estimated cost may be when its call leaves: what was learned from answers meanwhile is worth having after more.
const freshEstimate = time.Second

// estimateAgain asks the cost function once more, for a call that has waited long and is about to leave. Of a thousand calls that came before the
// first answer each has the estimate of one who knows nothing.
func (x *exchange) estimateAgain() {
	if x.call.Cost != nil || x.t.cfg.cost == nil || x.req == nil || !x.lane.countsUnits() {
		return
	}
	if c := x.t.cfg.cost(x.req); c.Validate() == nil {
		x.lane.reprice(&x.ticket, newCost(c))
	}
}

// settle replaces the cost that was estimated by the actual one.
func (x *exchange) settle(actual budget.Cost) bool {
	if actual == nil || actual.Validate() != nil || !x.lane.settle(x, actual) {
		return false
	}
	x.emit(Event{Kind: KindSettle})
	return true
}

// end hands out what came of the call.
func (x *exchange) end(o outcome) (*http.Response, error) {
	if o.resp == nil {
		x.result.Stop = stopOf(o.err, x.result.Stop)
	}
	if !x.closed {
		closeBody(x.req)
	}
	if o.resp != nil {
		x.watch(o.resp)
	}
	x.resp = nil
	x.ended.Store(true)
	x.rest()
	if x.call.Result != nil {
		*x.call.Result = x.result
	}
	if x.observed() {
		x.emit(Event{Kind: KindDone, Status: o.status(), Err: o.err, Result: x.result, Attempt: x.result.Attempts})
	}
	return o.resp, o.err
}

// drop tells the observers that the call is refused here.
func (x *exchange) drop(err error) error {
	e := Event{Kind: KindDrop, Err: err, Attempt: x.result.Attempts + 1}
	var limit *LimitError
	if errors.As(err, &limit) {
		e.Duration, e.Cause, e.Budget = limit.Wait, limit.Cause, limit.Budget
	}
	x.emit(e)
	return err
}

// unwind gives everything back if a user's function or the base has panicked, or ended the goroutine. The panic goes on.
func (x *exchange) unwind() {
	if x.ended.Swap(true) {
		return
	}
	// The round is not given back: whoever has panicked may still hold on to parts of it.
	if !x.closed {
		closeBody(x.req)
	}
	if x.resp != nil {
		x.resp.Body.Close()
	}
	x.release()
	switch {
	case x.ticket.flight == nil:
	case x.leaving:
		x.lane.lose(&x.ticket, true, false)
	case x.learned:
		x.lane.leave(&x.ticket)
	default:
		x.lane.lose(&x.ticket, false, false)
	}
}

// release ends the context of the current attempt, if it has one of its own.
func (x *exchange) release() {
	if x.cancel != nil {
		x.cancel(nil)
	}
}

// observed reports whether anybody is told. An event is large: on the way of every call none is made for nobody.
func (x *exchange) observed() bool { return len(x.t.cfg.observers) > 0 }

// emit tells the observers, if there are any.
func (x *exchange) emit(e Event) {
	if obs := x.t.cfg.observers; len(obs) > 0 {
		e.Key = x.result.Key
		obs.emit(x.ctx.Context, e)
	}
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}
