// Package throttletest is a strict upstream for tests: a server that counts as real ones do, tells its limits as real ones do, and
// fails on order. It is an http.Handler for real sockets and an http.RoundTripper for virtual time (testing/synctest), with the
// same brain.
//
//	up := throttletest.NewUpstream(
//		throttletest.WithLimits(throttletest.FixedWindow(500, time.Minute)),
//		throttletest.WithDialect(headers.OpenAI),
//		throttletest.WithLatency(throttletest.Latency{Network: 10 * time.Millisecond}),
//	)
//	client := &http.Client{Transport: up}  // or httptest.NewServer(up)
//	…
//	fmt.Println(up.Stats().Refused)
//
// What it enforces are Limits: FixedWindow, OpenedWindow, Daily, Quantised, SlidingLog, SlidingCounter, TokenBucket, LeakyQueue and
// Concurrency, of requests or of tokens, as many at once as you like. What it says about them is an Announce and a Hint. What else
// may happen to a caller is an Outage, a Ban, a Foreign caller on the same limits, or a Fault. All chance comes from WithSeed. How
// well a client did tell Stats, Arrivals, and Bound, the least time that the job could have taken.
//
// It answers /chat/completions (streamed if asked) and /embeddings in OpenAI's form, and any other path with a line of JSON.
package throttletest
