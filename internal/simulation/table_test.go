package simulation

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

var seeds = flag.Int("sim.seeds", 0, "how many seeds each scenario is played with; 0 = a few, and only one in rare settings of servers that tell nothing")

// few is how many seeds are played if nothing else is asked for.
const few = 5

// runs is how often a setting is played.
func (w want) runs(with setting) int {
	switch {
	case racing:
		return 1
	case *seeds > 0:
		return *seeds
	case w.seldom && !(with.workers == 16 && with.jitter < roughJitter):
		return 1
	default:
		return few
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
	if w.runs(with) == 1 {
		return ratio + unluckyRatio, per1000 * unluckyRefusals
	}
	return ratio, per1000
}

// want is what the figures must be, as means over the seeds.
type want struct {
	ratio    float64                                // makespan over the bound
	late     time.Duration                          // that may come on top: what nobody could know in time
	per1000  float64                                // refusals per 1000 admitted
	rough    float64                                // likewise at roughJitter, where that is more
	uneven   float64                                // ratio at roughJitter, where that is more
	crowd    float64                                // refusals per 1000 that may come on top with 256 workers: calls that nobody can call back
	crowded  float64                                // likewise the ratio, where that is more
	alone    float64                                // ratio with one worker, where that is more
	seldom   bool                                   // one run is enough in rare settings
	jain     float64                                // least
	spread   float64                                // between processes
	use      float64                                // least part of the limit that the whole windows of the clock let in; limit is then how much that is
	limit    float64                                // units per window of the clock
	wait     func(with setting) (p99 time.Duration) // the longest that 99 calls of 100 wait
	lost     int                                    // calls without an answer in each run
	lostToo  int                                    // that may be lost beside, at roughJitter or with 256 workers
	bans     bool                                   // any are allowed
	short    string                                 // which goal is missed, and why; the figures above are then what is reached
	check    func(t *testing.T, f figures)          // whatever else one run must show
	together func(t *testing.T, all []figures)      // whatever else all runs together must show
	note     func(all []figures) string             // whatever else is to be told of the runs
	workers  []int                                  // to play with; everyWorkers if empty
	jitters  []time.Duration                        // everyJitter if empty
}

// row is what the runs of one scenario in one setting came to.
type row struct {
	runs              int
	ratio, per1000    float64 // means
	late              float64 // mean of what may come on top of the ratio
	worstRatio        float64
	worst1000         float64
	jain              float64 // least
	spread            float64 // mean; 0 with one process
	worstSpread       float64
	use               float64 // mean
	fewest, most      int     // in a window of the clock
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
	r.spread += (f.spread() - r.spread) / float64(r.runs)
	r.worstSpread = max(r.worstSpread, f.spread())
	r.lost += s.calls - f.done
	r.bans += f.stats.Bans
	r.p50, r.p99, r.longest = max(r.p50, f.wait(.5)), max(r.p99, f.wait(.99)), max(r.longest, f.wait(1))
	r.count(s, f)
}

// count looks at the whole windows of the clock.
func (r *row) count(s scenario, f figures) {
	var sum int
	all := f.windows()
	for _, n := range all {
		sum += n
	}
	if len(all) == 0 {
		return
	}
	if r.runs == 1 {
		r.fewest = math.MaxInt
	}
	r.fewest, r.most = min(r.fewest, slices.Min(all)), max(r.most, slices.Max(all))
	if s.want.limit > 0 {
		r.use += (float64(sum)/float64(len(all))/s.want.limit - r.use) / float64(r.runs)
	}
}

const heading = "scenario                              W  jitter   ratio  (worst)  /1000  (worst)   Jain  spread  (worst)  lost  bans      p50      p99      max  use    per window"

func (r row) print(s scenario, with setting) string {
	use, spread, arrived := "-", "-        -", "-"
	if r.spread > 0 {
		spread = fmt.Sprintf("%.2f  %6.2f", r.spread, r.worstSpread)
	}
	if s.want.limit > 0 {
		use = fmt.Sprintf("%.3f", r.use)
	}
	if r.most > 0 {
		arrived = fmt.Sprint(r.fewest, "-", r.most)
	}
	return fmt.Sprintf("%-34s %4d %6v  %6.3f  %6.3f  %6.2f  %6.2f  %5.3f  %14s  %4d %5d %8v %8v %8v  %5s  %s", s.name, with.workers, with.jitter, r.ratio, r.worstRatio,
		r.per1000, r.worst1000, r.jain, spread, r.lost, r.bans, r.p50.Round(time.Millisecond), r.p99.Round(time.Millisecond), r.longest.Round(time.Millisecond), use, arrived)
}

// judge plays a scenario with every seed, and holds the figures against what is wanted.
func judge(t *testing.T, s scenario) {
	for _, workers := range orElse(s.want.workers, everyWorkers) {
		for _, jitter := range orElse(s.want.jitters, everyJitter) {
			judgeSetting(t, s, setting{workers: workers, jitter: jitter})
		}
	}
}

func judgeSetting(t *testing.T, s scenario, with setting) {
	var r row
	var all []figures
	for i := range s.want.runs(with) {
		with.seed = uint64(i + 1)
		f := run(t, s, with)
		r.add(s, f)
		if s.want.check != nil {
			s.want.check(t, f)
		}
		if s.want.note != nil || s.want.together != nil {
			all = append(all, f)
		}
	}
	t.Log(r.print(s, with))
	if s.want.note != nil {
		t.Log("    " + s.want.note(all))
	}
	if s.want.together != nil {
		s.want.together(t, all)
	}
	if s.want.short != "" {
		t.Log("    goal not reached: " + s.want.short)
	}
	r.hold(t, s.want, with)
}

// hold compares the means with what is wanted.
func (r row) hold(t *testing.T, w want, with setting) {
	w.holdLost(t, r, with)
	if !w.bans {
		assert.Zero(t, r.bans, "bans")
	}
	ratio, per1000 := w.allowed(with)
	assert.LessOrEqual(t, r.per1000, per1000, "refusals per 1000, %d workers, %v", with.workers, with.jitter)
	if w.ratio > 0 {
		assert.LessOrEqual(t, r.ratio, ratio+r.late, "makespan over the bound, %d workers, %v", with.workers, with.jitter)
	}
	if w.wait != nil {
		assert.LessOrEqual(t, r.p99, w.wait(with), "waits of 99 in 100")
	}
	assert.GreaterOrEqual(t, r.jain, w.jain, "fairness")
	if w.spread > 0 {
		assert.LessOrEqual(t, r.spread, w.spread, "longest waits between processes")
	}
	assert.GreaterOrEqual(t, r.use, w.use, "use of the limit")
}

// holdLost compares how many calls brought no answer.
func (w want) holdLost(t *testing.T, r row, with setting) {
	if with.jitter < roughJitter && with.workers < 256 {
		assert.Equal(t, w.lost*r.runs, r.lost, "calls without an answer")
		return
	}
	assert.GreaterOrEqual(t, r.lost, w.lost*r.runs, "calls without an answer")
	assert.LessOrEqual(t, r.lost, (w.lost+w.lostToo)*r.runs, "calls without an answer")
}

func orElse[T any](list, otherwise []T) []T {
	if len(list) == 0 {
		return otherwise
	}
	return list
}
