package simulation

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

var seeds = flag.Int("sim.seeds", 0, "how many seeds each scenario is played with; 0 = a few, and only one in rare settings")

// few is how many seeds are played in common settings if nothing else is asked for.
const few = 5

// runs is how often a setting is played.
func (with setting) runs() int {
	switch {
	case racing:
		return 1
	case *seeds > 0:
		return *seeds
	case with.workers == 16 && with.jitter < roughJitter:
		return few
	default:
		return 1
	}
}

// A single run may be unlucky: it may take longer than the mean by so much, and see so many times the refusals.
const (
	unluckyRatio    = 0.2
	unluckyRefusals = 2
)

// allowed is what the figures may be in a setting.
func (w want) allowed(with setting) (ratio, per1000 float64) {
	ratio, per1000 = w.ratio, w.per1000
	if with.jitter == roughJitter {
		ratio, per1000 = max(ratio, w.uneven), max(per1000, w.rough)
	}
	switch with.workers {
	case 1:
		ratio = max(ratio, w.alone)
	case 256:
		ratio, per1000 = max(ratio, w.crowded), per1000+w.crowd
	}
	if with.runs() == 1 {
		return ratio + unluckyRatio, per1000 * unluckyRefusals
	}
	return ratio, per1000
}

// row is what the runs of one scenario in one setting came to.
type row struct {
	runs              int
	ratio, per1000    float64 // means
	late              float64 // mean of what may come on top of the ratio
	worstRatio        float64
	worst1000         float64
	jain              float64 // least
	lost, bans        int
	p50, p99, longest time.Duration // worst
}

func (r *row) add(s scenario, f figures) {
	r.runs++
	r.late += (float64(s.want.late)/float64(f.bound) - r.late) / float64(r.runs)
	r.ratio += (f.ratio() - r.ratio) / float64(r.runs)
	r.per1000 += (f.stats.RefusedPer1000() - r.per1000) / float64(r.runs)
	r.worstRatio = max(r.worstRatio, f.ratio())
	r.worst1000 = max(r.worst1000, f.stats.RefusedPer1000())
	if r.runs == 1 || f.stats.Jain() < r.jain {
		r.jain = f.stats.Jain()
	}
	r.lost += s.calls - f.done
	r.bans += f.stats.Bans
	r.p50, r.p99, r.longest = max(r.p50, f.wait(.5)), max(r.p99, f.wait(.99)), max(r.longest, f.wait(1))
}

const heading = "scenario                              W  jitter   ratio  (worst)  /1000  (worst)   Jain  lost  bans      p50      p99      max"

func (r row) print(s scenario, with setting) string {
	return fmt.Sprintf("%-34s %4d %6v  %6.3f  %6.3f  %6.2f  %6.2f  %5.3f %5d %5d %8v %8v %8v", s.name, with.workers, with.jitter, r.ratio, r.worstRatio,
		r.per1000, r.worst1000, r.jain, r.lost, r.bans, r.p50.Round(time.Millisecond), r.p99.Round(time.Millisecond), r.longest.Round(time.Millisecond))
}

// judge plays a scenario with every seed, and holds the figures against what is wanted.
func judge(t *testing.T, s scenario) {
	for _, workers := range orElse(s.want.workers, []int{16}) {
		for _, jitter := range orElse(s.want.jitters, []time.Duration{usualJitter}) {
			with := setting{workers: workers, jitter: jitter}
			var r row
			for i := range with.runs() {
				with.seed = uint64(i + 1)
				r.add(s, run(t, s, with))
			}
			t.Log(r.print(s, with))
			if s.want.short != "" {
				t.Log("    goal not reached: " + s.want.short)
			}
			assert.Zero(t, r.lost, "calls without an answer")
			if !s.want.bans {
				assert.Zero(t, r.bans, "bans")
			}
			ratio, per1000 := s.want.allowed(with)
			assert.LessOrEqual(t, r.per1000, per1000, "refusals per 1000, %d workers, %v", workers, jitter)
			if s.want.ratio > 0 {
				assert.LessOrEqual(t, r.ratio, ratio+r.late, "makespan over the bound, %d workers, %v", workers, jitter)
			}
			assert.GreaterOrEqual(t, r.jain, s.want.jain, "fairness")
		}
	}
}

func orElse[T any](list, otherwise []T) []T {
	if len(list) == 0 {
		return otherwise
	}
	return list
}
