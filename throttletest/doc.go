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
package throttletest
