package throttle

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// How a body is told to be long, over both protocols, with and without a wait for "100 Continue". The longest one goes once
// over each protocol: it shows the memory, and the combinations show in the short ones.
func TestBodyReplayOverRealConnections(t *testing.T) {
	protocols := map[string]func(*http.Protocols){
		"HTTP/1.1": func(p *http.Protocols) { p.SetHTTP1(true) },
		"HTTP/2":   func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) },
	}
	for protocol, speak := range protocols {
		for size, bytes := range map[string]int64{"0 B": 0, "2 KiB": 2 << 10, "64 MiB": 64 * mib} {
			for _, known := range []bool{true, false} {
				for _, expect := range []bool{true, false} {
					if bytes > mib && (known == expect || known != (protocol == "HTTP/1.1")) {
						continue
					}
					name := protocol + " " + size
					if !known {
						name += " of unknown length"
					}
					if expect {
						name += " after 100 Continue"
					}
					t.Run(name, func(t *testing.T) { replay(t, speak, bytes, known, expect) })
				}
			}
		}
	}
}

func replay(t *testing.T, speak func(*http.Protocols), size int64, known, expect bool) {
	var sample func()
	s := listenWith(t, func(n int, w http.ResponseWriter, r *http.Request) {
		got, err := io.Copy(io.Discard, r.Body)
		assert.NoError(t, err)
		assert.Equal(t, size, got)
		if n == 1 {
			w.Header().Set("Retry-After-Ms", "1")
			w.Header().Set("Connection", "close") // over HTTP/2: GOAWAY
			w.WriteHeader(http.StatusTooManyRequests)
		}
		sample()
	}, func(srv *httptest.Server) {
		srv.Config.Protocols = new(http.Protocols)
		speak(srv.Config.Protocols)
		srv.Start()
	})
	s.base.Protocols = s.Config.Protocols
	s.base.ExpectContinueTimeout = time.Second
	cl, _ := client(t, s.base, quick())
	growth := heapGrowth(func(f func()) {
		sample = f
		fresh := func() (io.ReadCloser, error) { return io.NopCloser(&endless{size}), nil }
		body, _ := fresh()
		req, err := http.NewRequest(http.MethodPost, s.URL, body)
		require.NoError(t, err)
		req.GetBody = fresh
		if known {
			req.ContentLength = size
		}
		if expect {
			req.Header.Set("Expect", "100-continue")
		}
		resp, err := cl.Do(req)
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, http.StatusOK, resp.StatusCode)
	})
	hits, opened, _ := s.seen()
	assert.Equal(t, 2, hits)
	assert.GreaterOrEqual(t, opened, 2, "every attempt has a new connection")
	assert.Less(t, growth, uint64(8*mib), "the body is never held as a whole")
}

func TestReplayOfAnotherLengthIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, length := range []int{0, 6, 8} {
			s := newServer(script(reply{status: 429, header: map[string]string{"Retry-After": "1"}, body: "busy"}))
			cl, _ := client(t, s)
			req, err := http.NewRequest(http.MethodPost, api, bytes.NewReader([]byte("payload")))
			require.NoError(t, err)
			req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(io.LimitReader(zeros{}, int64(length))), nil }
			resp, err := cl.Do(req)
			require.NoError(t, err)
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.Equal(t, "busy", string(body))
			r, _ := ResultOf(resp)
			assert.Equal(t, BodyNotReplayable, r.Stop)
			assert.Equal(t, 1, s.count())
		}
	})
}

type zeros struct{}

func TestGetBodyThatFailsLaterGivesTheAnswerBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(script(reply{status: 429, header: map[string]string{"Retry-After": "1"}, body: "busy"}))
		cl, _ := client(t, s)
		req, err := http.NewRequest(http.MethodPost, api, bytes.NewReader([]byte("payload")))
		require.NoError(t, err)
		var asked atomic.Int32
		req.GetBody = func() (io.ReadCloser, error) {
			if asked.Add(1) > 1 {
				return nil, errors.New("the file is gone")
			}
			return io.NopCloser(bytes.NewReader([]byte("payload"))), nil
		}
		resp, err := cl.Do(req)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Equal(t, "busy", string(body))
		r, _ := ResultOf(resp)
		assert.Equal(t, BodyNotReplayable, r.Stop)
	})
}
