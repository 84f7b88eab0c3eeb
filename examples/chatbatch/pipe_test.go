package main

import (
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A filter: requests in, results out, everything else on standard error, and no codes for terminals where there is none.
func TestAFilter(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := newProgram(t, "", calm())
		p.stdin = requests(40) + "nonsense\n" + strings.TrimSuffix(request("last", "x"), "\n")
		d := p.start(t, "-url", apiHost, "-rpm", "20", "-")
		assert.Equal(t, exitSomeFailed, d.code)
		assert.Len(t, parseResults(t, d.stdout), 41)
		assert.Contains(t, d.stderr, "-:41: invalid_json")
		assert.Contains(t, d.stderr, "chatbatch: ")
		assert.NotContains(t, d.stderr, "\x1b")
		assert.NotContains(t, d.stderr, "\r")
		assert.Contains(t, d.stderr, "wait for requests (limit 20 per 1m0s, declared)", "a long wait is explained")
	})
}

// Nothing is sent of a pipe that is no file of requests.
func TestAPipeOfSomethingElse(t *testing.T) {
	virtual(t, func(t *testing.T) {
		for _, text := range []string{"", "\n\n", "[\n{}\n]\n", "a,b\n1,2\n", "\x1f\x8b\x08"} {
			p := newProgram(t, "", calm())
			p.stdin = text
			d := p.start(t, "-url", apiHost, "-o", p.output(), "-")
			assert.Equal(t, exitRefused, d.code, "%q: %s", text, d.stderr)
			assert.Empty(t, d.out)
		}
	})
}

// A pipe is read no further ahead than there are workers.
func TestAPipeIsNotReadAhead(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := newProgram(t, "", calm())
		slow := &counting{lines: strings.SplitAfter(requests(1000), "\n")}
		var read atomic.Int64
		time.AfterFunc(59*time.Second, func() { read.Store(slow.read.Load()) })
		var out strings.Builder
		code := run(t.Context(), []string{"-url", apiHost, "-key-env", "", "-rpm", "100", "-concurrency", "10", "-"},
			world{env: func(string) string { return "" }, stdin: slow, stdout: &out, stderr: &strings.Builder{}, network: p.up})
		require.Equal(t, exitDone, code)
		assert.Less(t, read.Load(), int64(100+2*10))
		assert.GreaterOrEqual(t, read.Load(), int64(100))
	})
}

// counting hands out one line at a time.
type counting struct {
	lines []string
	read  atomic.Int64
}

func (c *counting) Read(p []byte) (int, error) {
	n := int(c.read.Add(1)) - 1
	if n >= len(c.lines) {
		return 0, io.EOF
	}
	return copy(p, c.lines[n]), nil
}

// Nor does it outlast the deadline.
func TestASilentPipeAndTheDeadline(t *testing.T) {
	for _, n := range []int{0, 3} {
		virtual(t, func(t *testing.T) {
			silent, writer := io.Pipe()
			go func() { _, _ = io.WriteString(writer, requests(n)) }()
			var stdout, stderr strings.Builder
			began := time.Now()
			code := run(t.Context(), []string{"-url", apiHost, "-key-env", "", "-deadline", "10s", "-"}, world{
				env: func(string) string { return "" }, stdin: silent, stdout: &stdout, stderr: &stderr, network: calm(),
			})
			assert.Equal(t, exitStopped, code)
			assert.Equal(t, 10*time.Second, time.Since(began))
			assert.Contains(t, stderr.String(), "the deadline of 10s is over")
			assert.Len(t, parseResults(t, stdout.String()), n)
			require.NoError(t, writer.Close()) // lets the abandoned reader end
		})
	}
}

// A pipe may be silent for ever; the job can still be stopped, and so can a check.
func TestASilentPipeCanBeLeft(t *testing.T) {
	for name, args := range map[string][]string{"sending": {"-url", apiHost, "-key-env", "", "-"}, "checking": {"-n", "-"}} {
		virtual(t, func(t *testing.T) {
			silent, writer := io.Pipe()
			interrupts := make(chan os.Signal, 1)
			go func() { _, _ = io.WriteString(writer, requests(3)) }()
			time.AfterFunc(10*time.Second, func() { interrupts <- os.Interrupt })
			var stdout, stderr strings.Builder
			began := time.Now()
			code := run(t.Context(), args, world{
				env: func(string) string { return "" }, stdin: silent, stdout: &stdout, stderr: &stderr, interrupts: interrupts, network: calm(),
			})
			assert.Equal(t, exitInterrupted, code, name)
			assert.Equal(t, 10*time.Second, time.Since(began), name)
			if name == "sending" {
				assert.Len(t, parseResults(t, stdout.String()), 3)
			}
			require.NoError(t, writer.Close()) // lets the abandoned reader end
		})
	}
}
