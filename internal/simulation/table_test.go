package simulation

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

var seeds = flag.Int("sim.seeds", 5, "how many seeds each scenario is played with")

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
			n := *seeds
			if racing {
				n = 1
			}
			for i := range n {
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
			allowed := s.want.per1000
			if jitter == roughJitter {
				allowed = max(allowed, s.want.rough)
			}
			assert.LessOrEqual(t, r.per1000, allowed, "refusals per 1000")
			if s.want.ratio > 0 {
				assert.LessOrEqual(t, r.ratio, s.want.ratio+r.late, "makespan over the bound")
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
