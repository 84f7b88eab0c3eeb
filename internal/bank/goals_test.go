package bank

import (
	"os"
	"testing"
	"time"
)

func (r *result) doneIn(from, until time.Duration) (n int) {
	for _, c := range r.clients {
		for _, at := range c.doneAt {
			if at >= r.start+from && at < r.start+until {
				n++
			}
		}
	}
	return n
}

func (r *result) refusedIn(from, until time.Duration) (n int) {
	for _, c := range r.clients {
		for _, at := range c.refusedAt {
			if at >= r.start+from && at < r.start+until {
				n++
			}
		}
	}
	return n
}

func TestGoals(t *testing.T) {
	only := os.Getenv("GOAL")
	seeds := uint64(6)
	run := func(name string, s scenario, show func(r result) []any, format string) {
		if only != "" && only != name {
			return
		}
		for seed := range seeds {
			r := s.play(seed)
			t.Logf(name+": "+format, show(r)...)
		}
	}
	s := time.Second
	util := func(rate float64, from, until time.Duration) func(r result) []any {
		return func(r result) []any {
			n := r.doneIn(from, until)
			return []any{float64(n) / (rate * (until - from).Seconds()), 1000 * float64(r.refusedIn(from, until)) / float64(n), r.refusedIn(0, from)}
		}
	}
	for _, jitter := range []time.Duration{3 * time.Millisecond, 10 * time.Millisecond, 60 * time.Millisecond} {
		for _, burst := range []float64{2, 10, 100} {
			t.Log("G5 burst", burst, "jitter", jitter)
			run("G5", scenario{calls: 100000, workers: 64, jitter: jitter, service: 500 * time.Millisecond, lasts: 1800 * s, server: bucket(10, burst)}, util(10, 60*s, 1800*s), "utilisation %.4f refusals %.1f/1000, before %d")
		}
		change := func(a, b float64) func(w *world) server {
			return func(w *world) server {
				return &changingServer{&bucketServer{rate: a, burst: 20}, &bucketServer{rate: b, burst: 20}, w.start + 600*s}
			}
		}
		settle := func(rate float64) func(r result) []any {
			return func(r result) []any {
				at := time.Duration(0)
				for t := 600 * s; t < 1200*s; t += 5 * s {
					if n := r.doneIn(t, t+10*s); float64(n) >= 0.9*rate*10 {
						at = t - 600*s
						break
					}
				}
				return []any{at.Seconds(), r.refusedIn(600*s, 1200*s), float64(r.doneIn(660*s, 1200*s)) / (rate * 540), 1000 * float64(r.refusedIn(100*s, 600*s)) / float64(r.doneIn(100*s, 600*s))}
			}
		}
		run("G6up", scenario{calls: 100000, workers: 64, jitter: jitter, service: 500 * time.Millisecond, lasts: 1200 * s, server: change(10, 30)}, settle(30), "90%% after %.0f s, refusals %d, utilisation after 60 s %.3f, before %.1f/1000")
		run("G6down", scenario{calls: 100000, workers: 64, jitter: jitter, service: 500 * time.Millisecond, lasts: 1200 * s, server: change(30, 10)}, settle(10), "90%% after %.0f s, refusals %d, utilisation after 60 s %.3f, before %.1f/1000")
		run("G8", scenario{calls: 200000, workers: 8, clients: 10, jitter: jitter, service: 200 * time.Millisecond, lasts: 1800 * s, server: bucket(20, 20)}, func(r result) []any {
			u := util(20, 60*s, 1800*s)(r)
			lo, hi := time.Duration(1<<60), time.Duration(0)
			for _, c := range r.clients {
				p := quantile(c.waits, .99)
				lo, hi = min(lo, p), max(hi, p)
			}
			return append(u, r.jain, hi.Seconds()/lo.Seconds())
		}, "utilisation %.4f refusals %.1f/1000, before %d, jain %.3f, spread %.2f")
	}
}
