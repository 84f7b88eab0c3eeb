package mirror

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// goal is what the runs of one kind of server must come to, as means over the seeds, by the mean of the jitter.
type goal struct{ ratio, per1000 [3]float64 }

var jitters = [3]time.Duration{3 * time.Millisecond, 10 * time.Millisecond, 60 * time.Millisecond}

// The jitter is exponential, so a few delays are many times its mean. A bucket that holds one call shows every one of them: a margin that
// stood it all would cost more than the refusals do.
var goals = map[string]goal{
	"fixed":   {ratio: [3]float64{1.005, 1.006, 1.006}},
	"first":   {ratio: [3]float64{1.005, 1.005, 1.006}},
	"log":     {ratio: [3]float64{1.005, 1.005, 1.008}, per1000: [3]float64{0, 0, 0.5}},
	"counter": {ratio: [3]float64{1.005, 1.02, 1.02}, per1000: [3]float64{0.3, 0.3, 0.3}},
	"bucket":  {ratio: [3]float64{1.01, 1.012, 1.018}},
	"burst1":  {ratio: [3]float64{1.035, 1.07, 1.3}, per1000: [3]float64{0, 25, 55}},
}

func TestQuotasAreUsedWholeWithoutRefusals(t *testing.T) {
	const seeds = 10
	for kind, want := range goals {
		for _, workers := range []int{1, 16, 256} {
			for i, jitter := range jitters {
				var ratio, refused float64
				for seed := range uint64(seeds) {
					s := base(kind, workers)
					s.jitter = exponential(jitter)
					f := s.run(seed)
					ratio += f.ratio() / seeds
					refused += f.per1000() / seeds
				}
				t.Logf("%-8s W=%3d jitter %v: makespan %.4f of the least, %.2f refused per 1000", kind, workers, jitter, ratio, refused)
				assert.LessOrEqual(t, ratio, want.ratio[i], "%s, %d workers, %v", kind, workers, jitter)
				assert.LessOrEqual(t, refused, want.per1000[i], "%s, %d workers, %v", kind, workers, jitter)
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
