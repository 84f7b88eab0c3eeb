package throttle

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"sync/atomic"
)

// answerBody is the body of an answer. Its end, its close or the end of the call's context, whichever comes first, gives back the slot; its
// last bytes tell the usage.
type answerBody struct {
	io.ReadCloser
	x       *exchange
	resp    *http.Response
	stop    func() bool // no longer wait for the end of the context
	cleanup runtime.Cleanup
	ended   atomic.Bool
	tail    *tail // nil unless a usage function is set
}

// attach puts the body of resp under watch, or lets the slot go at once if there is none.
func (b *answerBody) attach(x *exchange, resp *http.Response) {
	if x.w.flight == nil {
		return // an earlier answer, whose slot is back already
	}
	if bodiless(resp) {
		x.release()
		x.lane.leave(&x.w)
		return
	}
	b.ReadCloser, b.x, b.resp = resp.Body, x, resp
	cfg := x.t.cfg
	if cfg.usage != nil && resp.StatusCode < 400 {
		b.tail = new(tail)
	}
	if x.ctx.Context.Done() != nil {
		b.stop = context.AfterFunc(x.ctx.Context, b.end)
	}
	if cfg.maxInFlight > 0 || cfg.maxInFlightTotal > 0 { // a slot that nobody gives back would be missed
		b.cleanup = runtime.AddCleanup(x, forgotten.giveBack, forgotten{x.lane, x.w.flight})
	}
	if w, ok := resp.Body.(io.Writer); ok { // 101 Switching Protocols: the body is the connection
		resp.Body = &answerConn{b, w}
		return
	}
	resp.Body = b
}

// bodiless reports whether nothing follows the headers of resp.
func bodiless(resp *http.Response) bool {
	return resp.Body == http.NoBody || resp.ContentLength == 0 ||
		resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusNotModified ||
		resp.Request != nil && resp.Request.Method == http.MethodHead
}

// Read reads, and watches for the end.
func (b *answerBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.tail != nil {
		b.tail.write(p[:n])
	}
	if err != nil {
		b.end()
	}
	return n, err
}

// Close closes the body.
func (b *answerBody) Close() error {
	err := b.ReadCloser.Close()
	b.end()
	return err
}

// end gives everything back, once.
func (b *answerBody) end() {
	if !b.ended.CompareAndSwap(false, true) {
		return
	}
	b.x.release()
	b.x.lane.leave(&b.x.w)
	b.cleanup.Stop()
	if b.stop != nil {
		b.stop()
	}
	if b.tail != nil {
		b.settle()
	}
}

// settle asks the user's function what the call really cost.
func (b *answerBody) settle() {
	defer func() { _ = recover() }() // it runs where the caller reads: a panic of the function must not reach it
	if actual := b.x.t.cfg.usage(b.resp, b.tail.bytes()); actual != nil {
		b.x.settle(actual)
	}
}

// answerConn is the body of an answer that switches protocols: it can be written to.
type answerConn struct {
	*answerBody
	io.Writer
}
