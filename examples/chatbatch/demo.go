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
	up, err := demoUpstream()
	if err != nil {
		return refuse(w.stderr, err)
	}
	base, stop, err := serve(up)
	if err != nil {
		return refuse(w.stderr, err)
	}
	defer stop()
	s.url, s.keyEnv = base, ""
	fmt.Fprintf(w.stderr, "No -i and no -url, so this is a demonstration. A server on %s admits %d requests a second (bursts up to %d),\n"+
		"refuses all others with 429, and tells its limit only in the headers of its answers. %d workers send the sample.\n",
		base, demoRate, demoBurst, s.workers)
	return runBatch(ctx, s, w, func(b *batch) { b.against(up) })
}

func demoUpstream() (*throttletest.Upstream, error) {
	return throttletest.New(
		throttletest.WithLimits(throttletest.TokenBucket(demoRate, time.Second, demoBurst)),
		throttletest.WithDialect(headers.OpenAI),
		throttletest.WithLatency(throttletest.Latency{Network: demoNetwork, Service: throttletest.LogNormal(demoService, 0.3)}),
	)
}

// serve starts a server on a free port of the loopback interface.
func serve(h http.Handler) (base string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // ends with Close
	return "http://" + listener.Addr().String(), func() { _ = server.Close() }, nil
}

// against tells the batch what nobody else could: the law of the server.
func (b *batch) against(up *throttletest.Upstream) {
	b.known = demoRate
	b.least = func(b *batch) time.Duration {
		least, _ := up.Bound(throttletest.Job{Calls: b.census.toSend(), Workers: b.settings.workers, Start: b.tally.Totals().Began})
		return least
	}
}
