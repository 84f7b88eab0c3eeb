package throttle

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

const mib = 1 << 20

// refuseOnce refuses the first request after reading it, closes its connection, and remembers the hash of every body.
func refuseOnce(hashes *[][32]byte) func(n int, w http.ResponseWriter, r *http.Request) {
	return func(n int, w http.ResponseWriter, r *http.Request) {
		h := sha256.New()
		io.Copy(h, r.Body)
		*hashes = append(*hashes, [32]byte(h.Sum(nil)))
		if n == 1 {
			w.Header().Set("Retry-After-Ms", "1")
			w.Header().Set("Connection", "close")
			w.WriteHeader(http.StatusTooManyRequests)
			io.WriteString(w, "busy")
		}
	}
}

func TestBDY01RetriedPostCarriesItsBody(t *testing.T) {
	payload := bytes.Repeat([]byte("0123456789abcdef"), mib/16)
	again := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(payload)), nil }
	for name, c := range map[string]struct {
		body    func() io.Reader
		prepare func(*http.Request)
		hits    int
	}{
		"bytes.Reader": {func() io.Reader { return bytes.NewReader(payload) }, func(*http.Request) {}, 2},
		"unknown length": {func() io.Reader { return io.NopCloser(bytes.NewReader(payload)) }, func(r *http.Request) {
			r.GetBody, r.ContentLength = again, -1
		}, 2},
		"no GetBody": {func() io.Reader { return bytes.NewReader(payload) }, func(r *http.Request) { r.GetBody = nil }, 1},
		"pipe": {func() io.Reader {
			r, w := io.Pipe()
			go func() { w.Write(payload); w.Close() }()
			return r
		}, func(*http.Request) {}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var hashes [][32]byte
			s := listen(t, refuseOnce(&hashes))
			cl, _ := client(t, s.base, quick())
			req, err := http.NewRequest(http.MethodPost, s.URL, c.body())
			require.NoError(t, err)
			c.prepare(req)
			resp, err := cl.Do(req)
			require.NoError(t, err)
			defer resp.Body.Close()
			require.Len(t, hashes, c.hits)
			for _, h := range hashes {
				assert.Equal(t, sha256.Sum256(payload), h)
			}
			if c.hits > 1 {
				assert.Equal(t, http.StatusOK, resp.StatusCode)
				return
			}
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.Equal(t, "busy", string(body))
			assert.Equal(t, http.StatusTooManyRequests, resp.StatusCode)
			r, _ := ResultOf(resp)
			assert.Equal(t, BodyNotReplayable, r.Stop)
		})
	}
}

func TestBDY03RequestBodyIsClosedOnceOnEveryExit(t *testing.T) {
	refusal := reply{status: 429, header: map[string]string{"Retry-After": "1"}}
	for name, c := range map[string]struct {
		reply func(int, *http.Request) reply
		opts  []Option
		call  Call
		busy  bool // another call uses up the budget first
		stop  time.Duration
		sent  int
	}{
		"cancelled in the queue": {always, []Option{WithPolicies(budget.PerMinute(1))}, Call{}, true, time.Second, 0},
		"queue full":             {always, []Option{WithPolicies(budget.PerMinute(1)), WithMaxQueue(1)}, Call{}, true, 0, 0},
		"cost too large":         {always, []Option{WithPolicies(budget.PerMinute(1))}, Call{Cost: budget.Cost{budget.Requests: 5}}, false, 0, 0},
		"bad cost":               {always, nil, Call{Cost: budget.Cost{budget.Requests: -5}}, false, 0, 0},
		"dial error": {func(int, *http.Request) reply {
			return reply{err: &net.OpError{Op: "dial", Err: errors.New("refused")}}
		}, nil, Call{MaxAttempts: 2}, false, 0, 2},
		"refused to the end": {func(int, *http.Request) reply { return refusal }, nil, Call{MaxAttempts: 2}, false, 0, 2},
		"success":            {script(refusal), nil, Call{}, false, 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(c.reply)
				cl, _ := client(t, s, c.opts...)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.busy {
					flood(t, cl, 1, api)
				}
				if name == "queue full" {
					go do(cl, ctx, http.MethodGet, api, "")
					synctest.Wait()
				}
				original := &tracked{Reader: bytes.NewReader([]byte("payload"))}
				var copies []*tracked
				req, err := http.NewRequestWithContext(NewContext(ctx, c.call), http.MethodPost, api, original)
				require.NoError(t, err)
				req.GetBody = func() (io.ReadCloser, error) {
					copies = append(copies, &tracked{Reader: bytes.NewReader([]byte("payload"))})
					return copies[len(copies)-1], nil
				}
				if c.stop > 0 {
					time.AfterFunc(c.stop, cancel)
				}
				sent := s.count()
				if resp, err := cl.Do(req); err == nil {
					resp.Body.Close()
				}
				assert.Equal(t, c.sent, s.count()-sent)
				assert.Equal(t, 1, original.closes(), "the original")
				for _, b := range copies {
					assert.Equal(t, 1, b.closes(), "a copy")
				}
			})
		})
	}
}

// endless is a body of n bytes that nobody stores.
type endless struct{ left int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), e.left)
	e.left -= n
	return int(n), nil
}

// heapGrowth is how many more bytes are live while f runs than before, as far as a few samples from within show.
func heapGrowth(f func(sample func())) uint64 {
	live := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, most := live(), uint64(0)
	f(func() { most = max(most, live()) })
	if most <= before {
		return 0
	}
	return most - before
}

// Nothing is buffered unasked; BufferBody asks for it, request by request.
func TestBDY05LargeBodiesAreNotBuffered(t *testing.T) {
	const size = 200 * mib
	var sample func()
	s := listen(t, func(n int, w http.ResponseWriter, r *http.Request) {
		read, err := io.CopyN(io.Discard, r.Body, size/2)
		assert.NoError(t, err)
		sample()
		rest, err := io.Copy(io.Discard, r.Body)
		assert.NoError(t, err)
		assert.EqualValues(t, size, read+rest)
		w.WriteHeader(http.StatusTooManyRequests)
	})
	cl, _ := client(t, s.base, quick())
	growth := heapGrowth(func(f func()) {
		sample = f
		req, err := http.NewRequest(http.MethodPost, s.URL, &endless{size})
		require.NoError(t, err)
		req.ContentLength = size
		resp, err := cl.Do(req)
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, http.StatusTooManyRequests, resp.StatusCode)
	})
	hits, _, _ := s.seen()
	assert.Equal(t, 1, hits)
	assert.Less(t, growth, uint64(5*mib))
}

func TestBDY05BodiesAreBufferedUpToALimit(t *testing.T) {
	for name, c := range map[string]struct {
		size, length int64 // length: as announced; -1 = not at all
		hits         int
	}{
		"up to the limit":              {mib, -1, 2},
		"above":                        {mib + 1, -1, 1},
		"up to the limit, as was said": {mib, mib, 2},
		"above, as was said":           {mib + 1, mib + 1, 1},
		"empty":                        {0, -1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var hashes [][32]byte
			s := listen(t, refuseOnce(&hashes))
			cl, _ := client(t, s.base, quick())
			body := &tracked{Reader: io.LimitReader(zeros{}, c.size)}
			req, err := http.NewRequest(http.MethodPost, s.URL, body)
			require.NoError(t, err)
			req.ContentLength = c.length
			require.NoError(t, BufferBody(req, mib))
			resp, err := cl.Do(req)
			require.NoError(t, err)
			resp.Body.Close()
			require.Len(t, hashes, c.hits)
			for _, h := range hashes {
				assert.Equal(t, sha256.Sum256(make([]byte, c.size)), h)
			}
			require.Eventually(t, func() bool { return body.closes() > 0 }, 10*time.Second, time.Millisecond, "net/http closes it when it likes")
			assert.Equal(t, 1, body.closes())
			r, _ := ResultOf(resp)
			assert.Equal(t, map[int]Stop{1: BodyNotReplayable, 2: Finished}[c.hits], r.Stop)
		})
	}
}

func TestBufferBodyLeavesAloneWhatNeedsNoBuffer(t *testing.T) {
	for _, body := range []io.Reader{nil, http.NoBody, bytes.NewReader([]byte("text"))} {
		req, err := http.NewRequest(http.MethodPost, api, body)
		require.NoError(t, err)
		before := *req
		require.NoError(t, BufferBody(req, mib))
		assert.Equal(t, before.Body, req.Body)
	}
	broken := errors.New("broken")
	body := &tracked{Reader: iotest.ErrReader(broken)}
	req, err := http.NewRequest(http.MethodPost, api, body)
	require.NoError(t, err)
	require.ErrorIs(t, BufferBody(req, mib), broken)
	assert.Equal(t, 1, body.closes())
}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
