package redisbudget

import (
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// proxy stands between a process and Redis, and does to the answers what a network does.
type proxy struct {
	addr string

	mu    sync.Mutex
	delay time.Duration            // of each answer
	drop  func(answer []byte) bool // cuts the connection instead of answering
	conns map[net.Conn]bool
}

func startProxy(t testing.TB, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{addr: l.Addr().String(), conns: map[net.Conn]bool{}}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { p.serve(c, to) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		p.mu.Lock()
		for c := range p.conns {
			_ = c.Close()
		}
		p.mu.Unlock()
		all.Wait()
	})
	return p
}

func (p *proxy) set(delay time.Duration, drop func([]byte) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay, p.drop = delay, drop
}

func (p *proxy) serve(c net.Conn, to string) {
	up, err := net.Dial("tcp", to)
	if err != nil {
		_ = c.Close()
		return
	}
	p.mu.Lock()
	p.conns[c], p.conns[up] = true, true
	p.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { p.pipe(up, c, nil) })
	both.Go(func() { p.pipe(c, up, p.answer) })
	both.Wait()
	p.mu.Lock()
	delete(p.conns, c)
	delete(p.conns, up)
	p.mu.Unlock()
}

// pipe copies until one side is closed, then closes both.
func (p *proxy) pipe(to, from net.Conn, may func([]byte) bool) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil || may != nil && !may(buf[:n]) {
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (p *proxy) answer(text []byte) bool {
	p.mu.Lock()
	delay, drop := p.delay, p.drop
	p.mu.Unlock()
	time.Sleep(delay)
	return drop == nil || !drop(text)
}
