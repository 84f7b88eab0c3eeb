package main

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// source makes lines as they are read, and looks at the program's size while they are.
type source struct {
	n, made    int
	long       int // every so many lines one of 300 KB
	left       string
	heap       uint64 // the largest seen
	goroutines int
}

func (s *source) Read(p []byte) (int, error) {
	if s.left == "" {
		if s.made == s.n {
			return 0, io.EOF
		}
		s.made++
		text := "river lake stone cloud engine ticket invoice refund printer harvest"
		if s.long > 0 && s.made%s.long == 0 {
			text = strings.Repeat("x", 300<<10)
		}
		s.left = request(fmt.Sprintf("row-%07d", s.made), text) + "\n"
		if s.made%5000 == 0 {
			s.measure()
		}
	}
	n := copy(p, s.left)
	s.left = s.left[n:]
	return n, nil
}

func (s *source) measure() {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	s.heap = max(s.heap, m.HeapAlloc)
	s.goroutines = max(s.goroutines, runtime.NumGoroutine())
}

// instant answers without a network.
type instant struct{ calls atomic.Int64 }

func (i *instant) RoundTrip(r *http.Request) (*http.Response, error) {
	i.calls.Add(1)
	if err := r.Body.Close(); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: 200, Header: http.Header{}, Request: r,
		Body: io.NopCloser(strings.NewReader(`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10}}`))}, nil
}

const mb = 1 << 20

func TestAHundredThousandLinesAreCheckedInLittleMemory(t *testing.T) {
	s := &source{n: 100_000, long: 10_000}
	var stderr strings.Builder
	code := run(t.Context(), []string{"-n", "-"}, world{stdin: s, stdout: io.Discard, stderr: &stderr})
	require.Equal(t, exitDone, code, stderr.String())
	assert.Contains(t, stderr.String(), "100000 requests, 0 rejected")
	assert.Less(t, s.heap, uint64(50*mb))
}

// However long the file, there are so many goroutines as workers ask for and no more, and the memory stays as it is.
func TestALongFileIsSentInLittleMemory(t *testing.T) {
	s, network := &source{n: 20_000, long: 1000}, &instant{}
	var stderr strings.Builder
	code := run(t.Context(), []string{"-url", apiHost, "-key-env", "", "-concurrency", "32", "-"},
		world{env: func(string) string { return "" }, stdin: s, stdout: io.Discard, stderr: &stderr, network: network})
	require.Equal(t, exitDone, code, stderr.String())
	assert.Equal(t, int64(20_000), network.calls.Load())
	assert.Less(t, s.heap, uint64(100*mb))
	assert.Less(t, s.goroutines, 32*4+50)
}

// A file of zeros without an end of line is one bad line, not a full memory.
func TestALineOfZeros(t *testing.T) {
	zeros := io.LimitReader(zeroReader{}, 200*mb)
	var stderr strings.Builder
	code := run(t.Context(), []string{"-n", "-"}, world{
		stdin: io.MultiReader(strings.NewReader(request("a", "x")+"\n"), zeros), stdout: io.Discard, stderr: &stderr,
	})
	assert.Equal(t, exitSomeFailed, code)
	assert.Contains(t, stderr.String(), "-:2: line_too_long")
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) { clear(p); return len(p), nil }
