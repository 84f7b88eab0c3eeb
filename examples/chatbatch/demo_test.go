package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/job"
)

// The promise, in virtual time where a ratio is exact: everything answered, no refusal, at most a tenth above the least possible time, with any
// number of workers.
func TestTheDemonstrationKeepsItsPromise(t *testing.T) {
	for _, workers := range []int{1, 2, 16, 64, 200} {
		virtual(t, func(t *testing.T) {
			up, err := demoUpstream()
			require.NoError(t, err)
			p := newProgram(t, string(demoInput), up)
			d := p.send(t, "-concurrency", fmt.Sprint(workers))
			assert.Equal(t, exitDone, d.code, d.stderr)
			n := strings.Count(string(demoInput), "\n")
			assert.Equal(t, n, d.answered())
			s := up.Stats()
			assert.Equal(t, n, s.Arrivals, "%d workers", workers)
			assert.Zero(t, s.Refused, "%d workers", workers)
			b := &batch{settings: &settings{workers: workers}, census: newCensus(), tally: job.NewTally()}
			b.census.requests = n
			b.against(up)
			assert.LessOrEqual(t, d.took.Seconds(), 1.10*b.least(b).Seconds(), "%d workers", workers)
		})
	}
}

// What a newcomer sees: one command, no flags, real sockets, the proof at the end.
func TestTheDemonstrationAsItIs(t *testing.T) {
	t.Parallel() // some ten seconds, in which the other tests may run
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), nil, world{env: func(string) string { return "" }, stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr})
	assert.Equal(t, exitDone, code, stderr.String())
	assert.Empty(t, stdout.String())
	assert.Contains(t, stderr.String(), "this is a demonstration")
	assert.Contains(t, stderr.String(), "300 answered, 0 failed")
	assert.Contains(t, stderr.String(), "least possible")
	assert.Contains(t, stderr.String(), "ratio")
}

func TestServeStops(t *testing.T) {
	base, stop, err := serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	require.NoError(t, err)
	resp, err := http.Get(base)
	require.NoError(t, err)
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, "hello", string(text))
	stop()
	http.DefaultClient.CloseIdleConnections()
	_, err = http.Get(base)
	assert.Error(t, err)
}
