package mirror

import (
	"fmt"
	"math"
	"testing"
	"time"
)

var fixedCapacity = func(s server, from, to time.Duration) (float64, time.Duration, time.Duration) {
	if b, ok := s.(*tokenBucket); ok {
		return b.burst + b.rate*(to-from).Seconds(), from, to
	}
	f := s.(*fixedWindow)
	k := (from-f.phase)/f.length + 1
	first := f.phase + k*f.length
	n := (to - first) / f.length
	return f.limit * float64(n), first, first + n*f.length
}

func TestMulti(t *testing.T) {
	for _, kind := range []string{"fixed", "bucket", "big"} {
		for _, p := range []int{2, 10, 30} {
			for _, foreign := range []float64{0, 6} {
				for _, j := range []time.Duration{10} {
					var util, ref, jain, spread, p99 float64
					const n = 4
					for seed := range uint64(n) {
						s := scenario{name: kind, calls: 1 << 30, workers: 8, processes: p, service: 200 * time.Millisecond, tell: wholeSeconds(math.Ceil), jitter: exponential(j * time.Millisecond), horizon: 1800 * time.Second, foreign: foreign, capacity: fixedCapacity}
						s.serve = func(w *world) server {
							switch kind {
							case "fixed":
								return &fixedWindow{limit: 1200, length: time.Minute, phase: time.Duration(w.rng.Float64() * float64(time.Minute))}
							case "full":
								s.tell = millis
								return newBucket(20, 100)
							case "big":
								s.tell = millis
								return newBucket(20, 1200)
							}
							return newBucket(20, 50)
						}
						f := s.play(seed, false)
						util += f.used
						ref += f.per1000()
						jain += f.jain
						spread += f.spread
						p99 += f.p99.Seconds()
					}
					fmt.Printf("%-7s P=%2d foreign %v J=%v util %.4f refused %.2f jain %.3f spread %.2f p99 %.2f\n", kind, p, foreign, int(j), util/n, ref/n, jain/n, spread/n, p99/n)
				}
			}
		}
	}
}

func TestJob(t *testing.T) {
	for _, burst := range []float64{60, 600} {
		for _, p := range []int{2, 10} {
			var ratio, ref, jain float64
			const n = 6
			for seed := range uint64(n) {
				s := scenario{calls: 2700, workers: 16, processes: p, service: 120 * time.Millisecond, tell: millis, jitter: uniform(6 * time.Millisecond)}
				s.serve = func(w *world) server { return newBucket(10, burst) }
				f := s.run(seed)
				ratio += f.ratio()
				ref += f.per1000()
				jain += f.jain
			}
			fmt.Printf("job burst %v P=%d ratio %.4f refused %.2f jain %.3f\n", burst, p, ratio/n, ref/n, jain/n)
		}
	}
}
