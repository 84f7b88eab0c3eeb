package throttle

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"time"
)

// How much of a body is looked at, and for how long. Error bodies are small; a server that trickles must not hold up everybody.
const (
	peekBytes = 64 << 10
	peekTime  = time.Second
)

// peeker is a function that reads the beginning of resp's body, once, and leaves the whole of it for the caller.
func peeker(resp *http.Response) func() []byte {
	var seen []byte
	var done bool
	return func() []byte {
		if !done {
			done = true
			seen = peek(resp)
		}
		return seen
	}
}

func peek(resp *http.Response) []byte {
	if resp.Body == nil || resp.Body == http.NoBody {
		return nil
	}
	p := &peeked{rest: resp.Body, done: make(chan struct{})}
	resp.Body = p
	go p.fill()
	timer := time.NewTimer(peekTime)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
	}
	return p.stop()
}

// peeked is a body whose beginning was read ahead. A reader of its own fills the buffer until it is told to stop; what it has in hand then
// still belongs to the body.
type peeked struct {
	rest io.ReadCloser
	done chan struct{} // closed when the reader has ended

	mu      sync.Mutex
	buf     []byte // what was read ahead
	stopped bool
	err     error // what ended the reading ahead, io.EOF included

	off int // how much of buf the caller has had; its own
}

// fill reads ahead.
func (p *peeked) fill() {
	defer close(p.done)
	chunk := make([]byte, 4<<10)
	for {
		n, err := p.rest.Read(chunk)
		p.mu.Lock()
		p.buf = append(p.buf, chunk[:n]...)
		p.err = err
		end := err != nil || p.stopped || len(p.buf) >= peekBytes
		p.mu.Unlock()
		if end {
			return
		}
	}
}

// stop ends the reading ahead, and is what it has read so far.
func (p *peeked) stop() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	return bytes.Clone(p.buf[:min(len(p.buf), peekBytes)])
}

// Read gives out what was read ahead, then the rest.
func (p *peeked) Read(b []byte) (int, error) {
	p.mu.Lock()
	if p.off == len(p.buf) {
		p.mu.Unlock()
		<-p.done // the reader's last chunk, if it is still out
		p.mu.Lock()
	}
	n := copy(b, p.buf[p.off:])
	p.off += n
	err := p.err
	left := len(p.buf) - p.off
	p.mu.Unlock()
	if n > 0 || left > 0 || len(b) == 0 {
		return n, nil
	}
	if err != nil {
		return 0, err
	}
	return p.rest.Read(b)
}

// Close closes the body; a reader still out ends by that.
func (p *peeked) Close() error { return p.rest.Close() }
