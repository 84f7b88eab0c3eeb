package main

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

// Three runs, one Redis, one input in three parts: together they stay under the limit.
func TestThreeRunsShareALimit(t *testing.T) {
	t.Parallel()
	const each, limit = 60, 40
	up := throttletest.NewUpstream(throttletest.WithLimits(throttletest.SlidingLog(limit, time.Second)))
	server := httptest.NewServer(up)
	defer server.Close()
	store := miniredis.RunT(t)
	var all sync.WaitGroup
	for part := range 3 {
		all.Go(func() {
			var in strings.Builder
			for i := range each {
				fmt.Fprintln(&in, request(fmt.Sprintf("%d-%d", part, i), "x"))
			}
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), []string{"-url", server.URL, "-redis", "redis://" + store.Addr(), "-limit", fmt.Sprintf("%d/second", limit), "-"},
				world{env: func(string) string { return "" }, stdin: strings.NewReader(in.String()), stdout: &stdout, stderr: &stderr})
			assert.Equal(t, exitDone, code, stderr.String())
			assert.Equal(t, each, strings.Count(stdout.String(), "\n"))
		})
	}
	all.Wait()
	assert.Equal(t, 3*each, up.Stats().Admitted)
	assert.LessOrEqual(t, up.Stats().Refused, 3, "%d a second were allowed", limit)
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
