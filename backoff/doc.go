// Package backoff says how long to step back after a failure: longer after each one, never longer than a maximum, and never the
// same for everybody. It computes and does not sleep.
//
//	var p backoff.Policy // the zero value: 500 ms, doubling, at most 60 s, full jitter
//	for retry := 1; ; retry++ {
//		if try() == nil {
//			break
//		}
//		time.Sleep(p.Delay(retry))
//	}
package backoff
