package main

import (
	"context"
	_ "embed" // the sample
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/seed-18ca0a92/throttle/headers"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

// The demonstration's server is as strict as many real ones: a bucket of so many requests that fills up at so many a second, and a refusal for
// every request above. Its answers tell the limit in OpenAI's headers; the program is told nothing. A single worker could send some 35 a second, so the
// limit binds at any number of workers.
const (
	demoBurst   = 20
	demoRate    = 25                    // a second
	demoNetwork = 5 * time.Millisecond  // one way
	demoService = 15 * time.Millisecond // mean time at the server
)

//go:embed testdata/demo.jsonl
var demoInput []byte

// runDemo runs the sample against a server of its own, on this machine alone.
func runDemo(ctx context.Context, s *settings, w world) int {
	up, err := throttletest.New(
		throttletest.WithLimits(throttletest.TokenBucket(demoRate, time.Second, demoBurst)),
		throttletest.WithDialect(headers.OpenAI),
		throttletest.WithLatency(throttletest.Latency{Network: demoNetwork, Service: throttletest.LogNormal(demoService, 0.3)}),
	)
	if err != nil {
		return refuse(w.stderr, err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return refuse(w.stderr, err)
	}
	server := &http.Server{Handler: up, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // ends with Close
	defer server.Close()
	s.url, s.keyEnv = "http://"+listener.Addr().String(), ""
	fmt.Fprintf(w.stderr, "No -i and no -url, so this is a demonstration. A server on %s admits %d requests a second (bursts up to %d),\n"+
		"refuses all others with 429, and tells its limit only in the headers of its answers. %d workers send the sample.\n",
		s.url, demoRate, demoBurst, s.workers)
	return runBatch(ctx, s, w, func(b *batch) {
		b.known = demoRate
		b.least = func(b *batch) time.Duration {
			least, _ := up.Bound(throttletest.Job{Calls: b.census.toSend(), Workers: s.workers, Start: b.tally.Totals().Began})
			return least
		}
	})
}
