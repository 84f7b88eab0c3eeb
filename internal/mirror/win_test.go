package mirror

import (
	"fmt"
	"math"
	"testing"
	"time"
)

func TestWin(t *testing.T) {
	for _, p := range []int{2, 10} {
		for _, foreign := range []float64{0, 6} {
			for _, hor := range []time.Duration{870, 1800} {
				var util, ref, jain, least, spread float64
				least = 1
				const n = 8
				for seed := range uint64(n) {
					s := scenario{calls: 1 << 30, workers: 8, processes: p, service: 120 * time.Millisecond, tell: wholeSeconds(math.Ceil), jitter: uniform(6 * time.Millisecond), horizon: hor * time.Second, foreign: foreign, capacity: fixedCapacity}
					s.serve = func(w *world) server {
						return &fixedWindow{limit: 1200, length: time.Minute, phase: time.Duration(w.rng.Float64() * float64(time.Minute))}
					}
					f := s.play(seed, false)
					util += f.used
					ref += f.per1000()
					jain += f.jain
					least = min(least, f.jain)
					spread += f.spread
				}
				fmt.Printf("win P=%2d foreign %v %d s util %.4f refused %.2f jain %.4f least %.4f spread %.2f\n", p, foreign, hor, util/n, ref/n, jain/n, least, spread/n)
			}
		}
	}
}
