package throttletest

import (
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"
)

var _ http.RoundTripper = (*Upstream)(nil)

// RoundTrip plays the network and the server in the time of the caller. It keeps the contract of http.RoundTripper: the request
// is not changed, its body is closed on every path, and the end of its context ends the call at any stage.
//
// A call that is given up on its way out arrives all the same, and is charged: bytes that are sent are not called back.
func (u *Upstream) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	k, err := u.send(ctx, r)
	if err != nil {
		return nil, err
	}
	lost := pause(ctx, k.out)
	v := u.arrive(k)
	if lost == nil {
		lost = pause(ctx, v.service)
	}
	if lost == nil {
		return u.deliver(ctx, k, v)
	}
	u.finish(v, k)
	return nil, lost
}

// send reads the body of a request and closes it. The end of the context closes it too, which frees a read that hangs.
func (u *Upstream) send(ctx context.Context, r *http.Request) (*call, error) {
	defer closing(ctx, r.Body)()
	if r.URL == nil {
		return nil, errorf("a request without a URL")
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	k, err := u.open(r)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return k, err
}

// closing closes b once: when ctx ends, or when the function returned is called, which comes back after it is closed.
func closing(ctx context.Context, b io.ReadCloser) (finish func()) {
	if b == nil {
		return func() {}
	}
	if ctx.Err() != nil {
		return func() { b.Close() }
	}
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { b.Close(); close(closed) })
	return func() {
		if stop() {
			b.Close()
			return
		}
		<-closed
	}
}

// deliver brings the answer back.
func (u *Upstream) deliver(ctx context.Context, k *call, v *verdict) (*http.Response, error) {
	a := u.answer(k, v, u.clock())
	if a.flow.instant() {
		u.finish(v, k)
	} else if d, ends := a.flow.lasts(); ends {
		u.leave(v, time.Now().Add(d))
	}
	if err := pause(ctx, k.back); err != nil {
		u.finish(v, k)
		return nil, err
	}
	if v.fault != nil && (v.fault.Reset || v.fault.Upgrade != "") {
		u.finish(v, k)
		return nil, v.fault.lost()
	}
	return a.response(k.request, newBody(ctx, a.flow, func() { u.finish(v, k) })), nil
}

// lost is the error of a call that gets no answer.
func (f *Fault) lost() error {
	if f.Upgrade != "" {
		return errorf("upgrades need a connection: use the upstream as a handler")
	}
	return errReset()
}

// errReset is what net/http reports of a connection that the peer resets.
func errReset() error {
	return &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
}

func (a answer) response(r *http.Request, b *body) *http.Response {
	resp := &http.Response{
		Status: strconv.Itoa(a.status) + " " + http.StatusText(a.status), StatusCode: a.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header, Body: b, ContentLength: -1, Request: r,
	}
	switch {
	case hasNoBody(a.status):
		resp.ContentLength = 0
	case !a.stream:
		resp.ContentLength = a.flow.length()
	}
	if a.bodiless(r.Method) {
		b.Close()
		resp.Body = http.NoBody
	}
	return resp
}
