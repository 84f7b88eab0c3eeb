package main

import (
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/throttletest"
)

// Killed twenty times at any moment, and once its output is even torn by hand: in the end every request has one line, and no more was paid for
// than what was under way at the kills.
func TestKilledTwentyTimes(t *testing.T) {
	for name, more := range map[string][]string{"as they come": nil, "in order": {"-ordered"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killTwentyTimes(t, more...)
		})
	}
}

func killTwentyTimes(t *testing.T, more ...string) {
	const n, workers, kills = 400, 8, 20
	slow := throttletest.WithFaults(func(n int, _ *httpRequest) *throttletest.Fault {
		if n%50 == 1 {
			return &throttletest.Fault{Delay: time.Second} // others end before it, and must not be lost with it
		}
		return nil
	})
	up := throttletest.NewUpstream(slow, throttletest.WithLatency(throttletest.Latency{Service: throttletest.Uniform(10*time.Millisecond, 60*time.Millisecond)}))
	server := httptest.NewServer(up)
	defer server.Close()
	p := newProgram(t, requests(n), nil)
	args := append([]string{"-i", p.input, "-url", server.URL, "-o", p.output(), "-concurrency", "8", "-q"}, more...)
	done := 0
	for kill := range kills {
		runAndKill(t, args, time.Duration(rand.IntN(150)+20)*time.Millisecond)
		if kill == kills/2 {
			tear(t, p.output())
		}
	}
	d := p.start(t, args...)
	require.Equal(t, exitDone, d.code, d.stderr)
	assert.Len(t, d.byID(t), n)
	assert.Equal(t, n, d.answered())
	done = up.Stats().Arrivals
	assert.LessOrEqual(t, done, n+workers*kills+1, "one more for the line that was torn")
}

// runAndKill starts the program as a process of its own, and kills it as nothing can be caught.
func runAndKill(t *testing.T, args []string, after time.Duration) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	require.NoError(t, cmd.Start())
	time.Sleep(after)
	_ = cmd.Process.Kill() // it may have ended by itself
	_ = cmd.Wait()         // killed: always an error
}

// tear cuts the last line of a file in two, as a power cut may.
func tear(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil || info.Size() < 20 {
		return // no result yet
	}
	require.NoError(t, os.Truncate(path, info.Size()-20))
}
