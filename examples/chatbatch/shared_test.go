package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

// redisServer is the address of a Redis of the test's own: a real one where the machine has it.
func redisServer(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Log("no redis-server on PATH: this runs against miniredis")
		return miniredis.RunT(t).Addr()
	}
	t.Log("this runs against", path)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := l.Addr().String()
	require.NoError(t, l.Close())
	_, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	server := exec.Command(path, "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir())
	require.NoError(t, server.Start())
	t.Cleanup(func() { _, _ = server.Process.Kill(), server.Wait() })
	client := redis.NewClient(&redis.Options{Addr: addr})
	defer client.Close()
	require.Eventually(t, func() bool { return client.Ping(t.Context()).Err() == nil }, 20*time.Second, 10*time.Millisecond)
	return addr
}

// part runs the program as a process of its own over the part of an input that is its turn, and is the lines it wrote and its exit code.
func part(t *testing.T, lines []string, args ...string) (results []string, code int, stderr string) {
	t.Helper()
	var out, said bytes.Buffer
	cmd := exec.Command(os.Args[0], append(args, "-")...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(strings.Join(lines, "")), &out, &said
	_ = cmd.Run() // its exit code tells
	return slices.Collect(strings.Lines(out.String())), cmd.ProcessState.ExitCode(), said.String()
}

// stillness is the longest that this process stood still while f ran.
func stillness(f func()) (worst time.Duration) {
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	for {
		before := time.Now()
		select {
		case <-done:
			return worst
		case <-time.After(5 * time.Millisecond):
			worst = max(worst, time.Since(before))
		}
	}
}

// Three processes, one Redis, one input in three parts, one strict server: everything is answered, once, and nothing is refused.
func TestThreeProcessesShareALimit(t *testing.T) {
	t.Parallel()
	const n, limit, burst = 270, 60, 20
	up := throttletest.NewUpstream(throttletest.WithLimits(throttletest.TokenBucket(limit, time.Second, burst)))
	server := httptest.NewServer(up)
	defer server.Close()
	args := []string{"-url", server.URL, "-redis", "redis://" + redisServer(t), "-limit", fmt.Sprintf("%d/second burst %d", limit, burst), "-concurrency", "16"}
	input := slices.Collect(strings.Lines(requests(n)))
	var mu sync.Mutex
	answers := map[string]int{}
	worst := stillness(func() {
		var all sync.WaitGroup
		for lines := range slices.Chunk(input, n/3) {
			all.Go(func() {
				results, code, stderr := part(t, lines, args...)
				assert.Equal(t, exitDone, code, stderr)
				assert.NotContains(t, stderr, "Redis is away")
				mu.Lock()
				defer mu.Unlock()
				for _, line := range results {
					var r struct {
						ID       string `json:"custom_id"`
						Response struct {
							Status int `json:"status_code"`
						}
					}
					assert.NoError(t, json.Unmarshal([]byte(line), &r))
					assert.Equal(t, http.StatusOK, r.Response.Status, line)
					answers[r.ID]++
				}
			})
		}
		all.Wait()
	})
	assert.Len(t, answers, n)
	assert.Equal(t, n, up.Stats().Admitted, "each was paid for once")
	// Half of the burst makes up for what slots are late by anyway, the other half for a machine that stands still.
	bearable := time.Second * burst / limit / 2
	t.Logf("refused %d; the machine stood still for %v at the worst", up.Stats().Refused, worst)
	assert.LessOrEqual(t, up.Stats().Refused, int(limit*max(0, worst-bearable).Seconds()))
}

func TestRedisThatCannotBeUsed(t *testing.T) {
	for _, c := range []struct{ name, url, say string }{
		{"no address", "localhost", "redis://"},
		{"a password in a bad address", "redis://:hunter2@[::1", "redis://"},
		{"nobody there", "redis://:hunter2@127.0.0.1:1", "does not answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProgram(t, requests(2), calm())
			d := p.send(t, "-redis", c.url, "-rpm", "5")
			assert.Equal(t, exitRefused, d.code)
			assert.Contains(t, d.stderr, c.say)
			assert.NotContains(t, d.stderr, "hunter2")
			assert.NoFileExists(t, p.output())
		})
	}
	_, err := parseFlags([]string{"-i", "x", "-url", "http://localhost", "-redis", "redis://localhost"}, nil)
	assert.ErrorContains(t, err, "-redis without a limit")
}

func TestOutagesAreTold(t *testing.T) {
	var stderr bytes.Buffer
	o := outages{&stderr}
	o.Observe(t.Context(), throttle.Event{Kind: throttle.KindWait})
	require.Empty(t, stderr.String())
	o.Observe(t.Context(), throttle.Event{Kind: throttle.KindDegraded, Err: errClosed})
	o.Observe(t.Context(), throttle.Event{Kind: throttle.KindDegraded})
	assert.Contains(t, stderr.String(), "Redis is away (broken pipe)")
	assert.Contains(t, stderr.String(), "Redis is back")
}
