package throttle

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"sync"
)

// answerBody is the body of an answer. Its end or its close, or the end of the call's context before that, gives back the slot; its last
// bytes tell the usage. It is part of the exchange, but where slots are counted: there only the caller refers to it, so that it becomes garbage when
// it is forgotten, whatever the connection under it does.
type answerBody struct {
	io.ReadCloser
	x       *exchange
	stop    func() bool // no longer wait for the end of the context; nil if it never ends
	cleanup runtime.Cleanup
	usage   *usage // nil unless a usage function is set
}

// watch puts the body of resp under watch, or lets the slot go at once if there is none.
func (x *exchange) watch(resp *http.Response) {
	if x.ticket.flight == nil {
		return // an earlier answer, whose slot is back already
	}
	if bodiless(resp) {
		x.finish()
		return
	}
	cfg := x.t.cfg
	capped := x.lane.places.Load() > 0 || cfg.maxInFlightTotal > 0
	b := &x.body
	if capped { // a slot that nobody gives back would be missed: garbage is noticed, which the exchange does not become in time
		b = new(answerBody)
	}
	b.ReadCloser, b.x = resp.Body, x
	if cfg.usage != nil && resp.StatusCode < 400 {
		b.usage = &usage{resp: resp}
	}
	if x.ctx.Done() != nil {
		b.stop = context.AfterFunc(x.ctx.Context, func() { x.finish() })
	}
	if capped {
		b.cleanup = runtime.AddCleanup(b, (*exchange).forget, x)
	}
	if w, ok := resp.Body.(io.Writer); ok { // 101 Switching Protocols: the body is the connection
		resp.Body = &answerConn{b, w}
		return
	}
	resp.Body = b
}

// bodiless reports whether nothing follows the headers of resp. A ContentLength of 0 proves nothing: a base may have left it out.
func bodiless(resp *http.Response) bool {
	return resp.Body == http.NoBody ||
		resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusNotModified ||
		resp.Request.Method == http.MethodHead
}

// Read reads, and watches for the end.
func (b *answerBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.usage != nil {
		b.usage.tail.write(p[:n])
	}
	if err != nil {
		b.end()
	}
	return n, err
}

// Close closes the body.
func (b *answerBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}

// end gives everything back.
func (b *answerBody) end() {
	if b.stop != nil {
		b.stop()
	}
	b.cleanup.Stop()
	b.x.finish()
	if b.usage != nil {
		b.x.use(b.usage)
	}
}

// finish gives back what an answer holds, once, and reports whether it was this time.
func (x *exchange) finish() bool {
	if !x.finished.CompareAndSwap(false, true) {
		return false
	}
	x.release()
	x.lane.leave(&x.ticket)
	return true
}

// usage is what the user's function tells the true cost by.
type usage struct {
	resp *http.Response
	tail tail
	once sync.Once
}

// use settles the call by what the user's function reads from its answer.
func (x *exchange) use(u *usage) {
	u.once.Do(func() {
		defer func() { _ = recover() }() // it runs where the caller reads: a panic of the function must not reach it
		x.settle(x.t.cfg.usage(u.resp, u.tail.bytes()))
	})
}

// forget gives back the slot of an answer that became garbage without being closed. It cannot close the body: in net/http that refers to the
// response, and so to what has become garbage.
func (x *exchange) forget() {
	if x.finish() {
		x.emit(Event{Kind: KindForgotten})
	}
}

// answerConn is the body of an answer that switches protocols: it can be written to.
type answerConn struct {
	*answerBody
	io.Writer
}
