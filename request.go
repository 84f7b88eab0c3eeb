package throttle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// BufferBody lets a request be sent again whose body cannot be had again, such as one that a proxy passes on. A body of up to most bytes is read into
// memory, and GetBody returns it from there; a longer one is left to be sent once. The request is changed, so call it before the request is sent.
// An error is that of the body, which is closed then.
func BufferBody(req *http.Request, most int64) error {
	if !hasBody(req) || req.GetBody != nil || req.ContentLength > most {
		return nil
	}
	long := req.Body
	head, err := io.ReadAll(io.LimitReader(long, most+1))
	if err == nil && int64(len(head)) > most {
		req.Body = joined{io.MultiReader(bytes.NewReader(head), long), long}
		return nil
	}
	long.Close()
	if err != nil {
		return fmt.Errorf("throttle: BufferBody: %w", err)
	}
	if req.ContentLength <= 0 { // unknown
		req.ContentLength = int64(len(head))
	}
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(head)), nil }
	req.Body, _ = req.GetBody()
	return nil
}

// joined is a body that was read in part.
type joined struct {
	io.Reader
	io.Closer
}

// errGetBody is for a body that could be had again when it was measured, and no longer when it was needed.
var errGetBody = errors.New("throttle: GetBody")

// hasBody reports whether req carries a body that must be there for every attempt.
func hasBody(req *http.Request) bool { return req.Body != nil && req.Body != http.NoBody }

// nextBody is the body for the next attempt: the caller's own the first time, a fresh one from GetBody after that.
func (x *exchange) nextBody() (io.ReadCloser, error) {
	if x.result.Attempts == 0 || !hasBody(x.req) {
		return nil, nil
	}
	body, err := x.req.GetBody()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errGetBody, err)
	}
	return body, nil
}

// outgoing is a copy of the caller's request to hand to the base; the caller's own is never changed. The first is a part of the exchange; the
// base may still hold on to it when the next attempt begins.
func (x *exchange) outgoing(body io.ReadCloser) *http.Request {
	if x.result.Attempts == 1 {
		*x.first = *x.req.WithContext(&x.ctx)
		return x.first
	}
	out := x.req.WithContext(&x.ctx)
	if body != nil {
		out.Body = body
	}
	return out
}

// replayable reports whether the request can be sent again, whole. A body that GetBody returns is measured first, in a copy of its own,
// when its length was announced: half a request is worse than none.
func (x *exchange) replayable() bool {
	if !hasBody(x.req) {
		return true
	}
	if x.req.GetBody == nil {
		return false
	}
	if x.req.ContentLength <= 0 {
		return true
	}
	body, err := x.req.GetBody()
	if err != nil {
		return false
	}
	defer body.Close()
	n, err := io.Copy(io.Discard, io.LimitReader(body, x.req.ContentLength+1))
	return err == nil && n == x.req.ContentLength
}

// idempotent reports whether the request may be processed twice: by its method (RFC 9110, section 9.2.2), by a key that lets the server
// recognise the repetition, or because the caller says so.
func (x *exchange) idempotent() bool {
	switch x.req.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return true
	}
	if x.call.Idempotent || x.req.Header.Get("Idempotency-Key") != "" || x.req.Header.Get("X-Idempotency-Key") != "" {
		return true
	}
	return x.t.cfg.idempotent != nil && x.t.cfg.idempotent(x.req)
}
