package throttle

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/seed-18ca0a92/throttle/backoff"
)

// loopback is a server on a real socket, for what only real connections show.
type loopback struct {
	*httptest.Server
	base *http.Transport // a client's own pool

	mu     sync.Mutex
	opened int              // connections, in all
	conns  map[net.Conn]int // those that are open
	most   int              // most that were open at once
	hits   int
}

// listen starts a server that gives its handler the number of the hit, from 1.
func listen(t testing.TB, h func(n int, w http.ResponseWriter, r *http.Request)) *loopback {
	return listenWith(t, h, (*httptest.Server).Start)
}

func listenWith(t testing.TB, h func(n int, w http.ResponseWriter, r *http.Request), start func(*httptest.Server)) *loopback {
	s := &loopback{conns: map[net.Conn]int{}}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.hits++
		n := s.hits
		s.mu.Unlock()
		h(n, w, r)
	}))
	s.Config.ConnState = s.count
	start(s.Server)
	s.base = s.Client().Transport.(*http.Transport)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		s.base.CloseIdleConnections()
	})
	return s
}

// pipes is a loopback without sockets: net/http on both sides, over connections in memory, so that waiting takes virtual time.
func pipes(t *testing.T, h func(n int, w http.ResponseWriter, r *http.Request)) *loopback {
	l := &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
	s := listenWith(t, h, func(srv *httptest.Server) {
		srv.Listener.Close()
		srv.Listener = l
		srv.Start()
	})
	s.base = &http.Transport{DialContext: l.dial, MaxIdleConnsPerHost: 100}
	t.Cleanup(s.base.CloseIdleConnections)
	s.URL = api
	return s
}

type pipeListener struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { l.once.Do(func() { close(l.done) }); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

func (s *loopback) count(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state {
	case http.StateNew:
		s.opened++
		s.conns[c] = 1
		s.most = max(s.most, len(s.conns))
	case http.StateClosed, http.StateHijacked:
		delete(s.conns, c)
	}
}

func (s *loopback) seen() (hits, opened, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hits, s.opened, s.most
}

// quick keeps real waits short: what is tested over real sockets is not the waiting.
func quick() Option { return WithBackoff(backoff.Policy{Initial: time.Millisecond}) }

// tracked is a request body that counts its closes and its bytes.
type tracked struct {
	io.Reader
	mu     sync.Mutex
	closed int
	read   int
}

func (b *tracked) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.mu.Lock()
	b.read += n
	b.mu.Unlock()
	return n, err
}

func (b *tracked) Close() error {
	b.mu.Lock()
	b.closed++
	b.mu.Unlock()
	return nil
}

func (b *tracked) closes() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}
