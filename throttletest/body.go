package throttletest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// body is the body of an answer in virtual time. Its bytes arrive when the server has sent them, not when they are asked for.
// It is read by one goroutine at a time; Close may come from another.
type body struct {
	ctx    context.Context
	flow   *flow
	due    time.Time // of the bytes read last
	data   []byte
	err    error
	closed chan struct{}
	over   func() // called once, when the answer has ended for the caller
}

func newBody(ctx context.Context, f *flow, over func()) *body {
	b := &body{ctx: ctx, flow: f, due: time.Now(), closed: make(chan struct{})}
	b.over = sync.OnceFunc(func() { close(b.closed); over() })
	return b
}

// Close ends the answer. Reading after it is an error, as with net/http.
func (b *body) Close() error {
	b.over()
	return nil
}

func (b *body) Read(p []byte) (int, error) {
	for len(b.data) == 0 && b.err == nil {
		if b.err = b.fetch(); b.err != nil {
			b.over()
		}
	}
	n := copy(p, b.data)
	b.data = b.data[n:]
	if n > 0 || len(p) == 0 {
		return n, nil
	}
	return 0, b.err
}

// fetch waits for the next piece.
func (b *body) fetch() error {
	select {
	case <-b.closed:
		return http.ErrBodyReadAfterClose
	default:
	}
	if b.ctx.Err() != nil {
		return context.Cause(b.ctx)
	}
	p, err := b.flow.next()
	if errors.Is(err, errTorn) {
		return io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	b.due = b.due.Add(p.gap)
	b.data = p.data
	return b.wait(time.Until(b.due))
}

func (b *body) wait(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-b.closed:
		return http.ErrBodyReadAfterClose
	case <-b.ctx.Done():
		return context.Cause(b.ctx)
	}
}
