package throttle

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

// The frames that the tests need (RFC 9113, section 6).
const (
	frameData, frameHeaders, frameReset, frameSettings, frameGoAway, frameWindow = 0, 1, 3, 4, 7, 8

	flagEnd, flagAck, flagEndHeaders = 1, 1, 4
)

// rawHTTP2 is a server that refuses its first stream in a way that net/http's own server never does.
type rawHTTP2 struct {
	net.Listener
	refuse func(c net.Conn, stream uint32)

	mu      sync.Mutex
	streams int
	open    []net.Conn
	running sync.WaitGroup
}

func newRawHTTP2(t *testing.T, refuse func(c net.Conn, stream uint32)) *rawHTTP2 {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &rawHTTP2{Listener: l, refuse: refuse}
	s.running.Go(s.accept)
	t.Cleanup(func() {
		l.Close()
		s.mu.Lock()
		for _, c := range s.open {
			c.Close()
		}
		s.mu.Unlock()
		s.running.Wait()
	})
	return s
}

func (s *rawHTTP2) accept() {
	for {
		c, err := s.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.open = append(s.open, c)
		s.mu.Unlock()
		s.running.Go(func() { s.serve(c) })
	}
}

func (s *rawHTTP2) serve(c net.Conn) {
	defer c.Close()
	if _, err := io.CopyN(io.Discard, c, int64(len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))); err != nil {
		return
	}
	writeFrame(c, frameSettings, 0, 0, nil)
	for {
		var head [9]byte
		if _, err := io.ReadFull(c, head[:]); err != nil {
			return
		}
		size := int64(head[0])<<16 | int64(head[1])<<8 | int64(head[2])
		if _, err := io.CopyN(io.Discard, c, size); err != nil {
			return
		}
		kind, flags, stream := head[3], head[4], binary.BigEndian.Uint32(head[5:])
		if kind == frameData && size > 0 {
			room := binary.BigEndian.AppendUint32(nil, uint32(size))
			writeFrame(c, frameWindow, 0, 0, room)
			writeFrame(c, frameWindow, 0, stream, room)
		}
		switch {
		case kind == frameSettings && flags&flagAck == 0:
			writeFrame(c, frameSettings, flagAck, 0, nil)
		case kind <= frameHeaders && flags&flagEnd != 0:
			s.answer(c, stream)
		}
	}
}

// answer ends a stream whose request is there as a whole.
func (s *rawHTTP2) answer(c net.Conn, stream uint32) {
	s.mu.Lock()
	s.streams++
	first := s.streams == 1
	s.mu.Unlock()
	if first {
		s.refuse(c, stream)
		return
	}
	writeFrame(c, frameHeaders, flagEnd|flagEndHeaders, stream, []byte{0x88}) // ":status: 200" in the static table of RFC 7541
}

func (s *rawHTTP2) seen() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.streams
}

func writeFrame(w io.Writer, kind, flags byte, stream uint32, payload []byte) {
	n := len(payload)
	frame := binary.BigEndian.AppendUint32([]byte{byte(n >> 16), byte(n >> 8), byte(n), kind, flags}, stream)
	w.Write(append(frame, payload...))
}

// With GetBody net/http itself repeats what the server has not processed. It can, because the request that goes out keeps its GetBody.
func TestBDY06UnprocessedHTTP2StreamIsRepeated(t *testing.T) {
	refusals := map[string]func(net.Conn, uint32){
		"REFUSED_STREAM": func(c net.Conn, stream uint32) {
			writeFrame(c, frameReset, 0, stream, []byte{0, 0, 0, refusedStream})
		},
		"GOAWAY": func(c net.Conn, _ uint32) {
			writeFrame(c, frameGoAway, 0, 0, make([]byte, 8)) // the last stream it has processed: none
			time.AfterFunc(10*time.Millisecond, func() { c.Close() })
		},
	}
	for name, refuse := range refusals {
		for _, replayable := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				s := newRawHTTP2(t, refuse)
				base := &http.Transport{Protocols: new(http.Protocols)}
				base.Protocols.SetUnencryptedHTTP2(true)
				defer base.CloseIdleConnections()
				cl, tr := client(t, base, WithPolicies(budget.PerHour(100)), quick())
				req, err := http.NewRequest(http.MethodPost, "http://"+s.Addr().String(), bytes.NewReader(make([]byte, 64<<10)))
				require.NoError(t, err)
				if !replayable {
					req.GetBody = nil
				}
				resp, err := cl.Do(req)
				if !replayable {
					require.Error(t, err)
					assert.Equal(t, 1, s.seen())
					return
				}
				require.NoError(t, err)
				resp.Body.Close()
				assert.Equal(t, http.StatusOK, resp.StatusCode)
				assert.Equal(t, 2, s.seen())
				r, _ := ResultOf(resp)
				state, _ := tr.State(r.Key)
				assert.EqualValues(t, r.Attempts, state.Budgets[0].Used)
			})
		}
	}
}

// Where net/http gives up on a refused stream, the call is repeated here, whatever its method: and it is counted, since it was sent.
func TestRefusedStreamIsSafeToRepeatAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(script(reply{err: streamError{StreamID: 1, Code: refusedStream}}))
		cl, tr := client(t, s, WithPolicies(budget.PerHour(100)))
		_, _, err := do(cl, t.Context(), http.MethodPost, api, "payload")
		require.NoError(t, err)
		assert.Equal(t, 2, s.count())
		state, _ := tr.State("api.example")
		assert.EqualValues(t, 2, state.Budgets[0].Used)
	})
}

// The cap on calls in flight keeps a client under the stream limit of its server. http.HTTP2Config.StrictMaxConcurrentRequests, where
// it is set, does the same by waiting inside the connection, where nobody sees it.
func TestCON13InFlightCapStaysUnderTheStreamLimit(t *testing.T) {
	s := listenWith(t, func(int, http.ResponseWriter, *http.Request) { time.Sleep(time.Millisecond) }, func(srv *httptest.Server) {
		srv.Config.Protocols = new(http.Protocols)
		srv.Config.Protocols.SetUnencryptedHTTP2(true)
		srv.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 10}
		srv.Start()
	})
	s.base.Protocols = s.Config.Protocols
	cl, _ := client(t, s.base, WithMaxInFlight(8))
	_, _, err := get(cl, s.URL) // so that the connection is there before the crowd is
	require.NoError(t, err)
	flood(t, cl, 200, s.URL)
	hits, opened, _ := s.seen()
	assert.Equal(t, 201, hits)
	assert.Equal(t, 1, opened)
}
