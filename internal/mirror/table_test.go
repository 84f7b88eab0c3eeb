package mirror

import (
	"fmt"
	"math"
	"testing"
	"time"
)

func TestQuick(t *testing.T) {
	for _, w := range []int{1, 16, 256} {
		for _, j := range []time.Duration{3, 10, 60} {
			for _, kind := range []string{"fixed", "first", "log", "counter", "bucket", "burst1"} {
				var sum, worst, ref float64
				for seed := range uint64(10) {
					s := base(kind, w)
					s.jitter = exponential(j * time.Millisecond)
					f := s.run(seed)
					sum += f.ratio()
					worst = max(worst, f.ratio())
					ref += f.per1000()
				}
				fmt.Printf("%-8s W=%3d J=%2d  mean %.4f worst %.4f refused %.2f\n", kind, w, j, sum/10, worst, ref/10)
			}
		}
	}
}

func base(kind string, workers int) scenario {
	const q, k = 600, 4
	s := scenario{name: kind, calls: q*k - q/2, workers: workers, service: 120 * time.Millisecond, tell: wholeSeconds(math.Ceil)}
	if kind == "burst1" {
		s.tell = millis
		s.calls = 100
	}
	length := time.Minute
	if workers == 1 {
		length = 2 * time.Minute
	}
	var phase time.Duration
	s.serve = func(w *world) server {
		phase = time.Duration(w.rng.Float64() * float64(length))
		switch kind {
		case "fixed":
			return &fixedWindow{limit: q, length: length, phase: phase}
		case "first":
			return &fixedWindow{limit: q, length: length, byFirst: true}
		case "log":
			return &logServer{limit: q, length: length}
		case "counter":
			return &slidingCounter{limit: q, length: length, phase: phase}
		case "bucket":
			return newBucket(50, 100)
		case "burst1":
			return newBucket(1, 1)
		}
		panic(kind)
	}
	return s
}
