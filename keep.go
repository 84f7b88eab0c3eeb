package throttle

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"time"
)

// How much of an answer is read before its connection is used again, and for how long: above that a new connection is cheaper.
const (
	drainBytes = 256 << 10
	drainTime  = 100 * time.Millisecond
	// keepBytes is how much of it is remembered, in case no further attempt is made and the caller gets this answer after all.
	keepBytes = 64 << 10
)

// keep empties the body of an answer that will be followed by another attempt, so that its connection is free, and remembers it.
func (o *outcome) keep() {
	if o.resp == nil || o.resp.Body == nil || o.resp.Body == http.NoBody {
		return
	}
	k := &kept{body: o.resp.Body, done: make(chan struct{})}
	o.resp.Body = k
	go k.drain()
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-k.done:
	case <-timer.C:
	}
	k.body.Close() // ends the drain, if it is still under way
}

// restore makes a kept answer readable again from its start, and reports whether all of it is there.
func (o *outcome) restore() bool {
	k, ok := o.resp.Body.(*kept)
	if !ok {
		return true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.whole {
		return false
	}
	o.resp.Body = io.NopCloser(bytes.NewReader(k.buf))
	return true
}

// kept is the body of an answer that was followed by another attempt: read to its end, and remembered as far as it is small.
type kept struct {
	body io.ReadCloser
	done chan struct{}

	mu    sync.Mutex
	buf   []byte
	whole bool // buf is all of it
}

func (k *kept) drain() {
	defer close(k.done)
	head, err := io.ReadAll(io.LimitReader(k.body, keepBytes))
	if err != nil {
		return
	}
	n, err := io.Copy(io.Discard, io.LimitReader(k.body, drainBytes-keepBytes))
	k.mu.Lock()
	k.buf, k.whole = head, err == nil && n == 0
	k.mu.Unlock()
}

// Read is never called: a kept answer is restored or forgotten.
func (k *kept) Read([]byte) (int, error) { return 0, io.EOF }

// Close does nothing: the body is closed.
func (k *kept) Close() error { return nil }
