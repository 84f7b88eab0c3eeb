package mirror

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A want is what the runs of a scenario must come to, as means over the seeds. A figure of zero asks nothing, but for refusals.
type want struct {
	ratio   float64       // makespan over the least that any client could reach, at most
	late    time.Duration // that may come on top: what nobody could know in time
	per1000 float64       // refusals per 1000 admitted, at most
	used    float64       // of what the server had to give, at least
	jain    float64       // Jain's fairness index over the processes, at least
	spread  float64       // greatest over least p99 wait of the processes, at most
}

// seeds is how often each scenario is played, in another phase and with other delays each time.
const seeds = 5

// judge plays a scenario with every seed, prints its line of the table and holds it against what is wanted.
func judge(t *testing.T, name string, s scenario, w want) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		var m figures // means
		var ratio, per1000 float64
		var p99 time.Duration
		for seed := range uint64(seeds) {
			f := s.run(seed)
			ratio += float64(f.makespan-w.late) / float64(f.bound) / seeds
			per1000 += f.per1000() / seeds
			m.used += f.used / seeds
			m.jain += f.jain / seeds
			m.spread += f.spread / seeds
			p99 = max(p99, f.p99)
		}
		t.Log(line(ratio, per1000, m, p99))
		assert.LessOrEqual(t, per1000, w.per1000, "refusals per 1000")
		assert.GreaterOrEqual(t, m.used, w.used, "part of the quota used")
		assert.GreaterOrEqual(t, m.jain, w.jain, "fairness")
		if w.ratio > 0 {
			assert.LessOrEqual(t, ratio, w.ratio, "makespan over the least")
		}
		if w.spread > 0 {
			assert.LessOrEqual(t, m.spread, w.spread, "spread of p99 waits")
		}
	})
}

func line(ratio, per1000 float64, m figures, p99 time.Duration) string {
	s := fmt.Sprintf("refused/1000 %6.2f  p99 wait %8v", per1000, p99.Round(time.Millisecond))
	if !math.IsInf(ratio, 0) {
		s = fmt.Sprintf("ratio %.4f  ", ratio) + s
	}
	if m.used > 0 {
		s += fmt.Sprintf("  used %.4f  Jain %.4f  spread %.2f", m.used, m.jain, m.spread)
	}
	return s
}

// jitters are the means of the exponential delay that every message takes beyond its route's 8 to 14 ms.
var jitters = [3]time.Duration{3 * time.Millisecond, 10 * time.Millisecond, 60 * time.Millisecond}

// A lone process with nothing declared uses the whole quota and sees no refusal, however unsteady the network. Exponential delays
// have a long tail: at a mean of 60 ms one in a hundred takes 280. A bucket of one call shows each of them, and a margin
// for all would cost more than the refusals do.
func TestHeadersAloneSuffice(t *testing.T) {
	kinds := []struct {
		name  string
		serve func(limit float64, d time.Duration) func(*world) server
		want  [3]want // by jitter
	}{
		{"fixed window", fixed, [3]want{{ratio: 1.005}, {ratio: 1.005}, {ratio: 1.005, per1000: 0.2}}},
		{"window opened by the first call", byFirst, [3]want{{ratio: 1.005}, {ratio: 1.005}, {ratio: 1.005, per1000: 0.2}}},
		{"sliding log", sliding, [3]want{{ratio: 1.006}, {ratio: 1.006, per1000: 0.2}, {ratio: 1.01, per1000: 1}}},
		{"sliding counter", counter, [3]want{{ratio: 1.02, per1000: 0.5}, {ratio: 1.02, per1000: 0.5}, {ratio: 1.02, per1000: 2}}},
		{"bucket", smallBurst, [3]want{{ratio: 1.003}, {ratio: 1.003}, {ratio: 1.004, per1000: 0.5}}},
	}
	for _, k := range kinds {
		for _, workers := range []int{1, 16, 256} {
			length := minute
			if workers == 1 {
				length = 3 * minute // or one worker alone could not use the quota up
			}
			for i, jitter := range jitters {
				s := job(offStep, workers, exponential(jitter), forms["up"], k.serve(quota, length))
				judge(t, fmt.Sprintf("%s, W=%d, jitter %v", k.name, workers, jitter), s, k.want[i])
			}
		}
	}
	s := job(100, 16, exponential(3*time.Millisecond), millis, tokens(1, 1))
	judge(t, "bucket of one call", s, want{ratio: 1.035})
	s.jitter = exponential(10 * time.Millisecond)
	judge(t, "bucket of one call, jitter 10ms", s, want{ratio: 1.07, per1000: 30})
}

// However a reset is told, the quota is used whole. A server that rounds down says so by one refusal, once.
func TestEveryFormOfResetWillDo(t *testing.T) {
	once := 1000. / offStep
	kinds := []struct {
		name  string
		serve func(*world) server
		ratio float64
	}{
		{"fixed window", fixed(quota, minute), 1.011}, {"first-call window", byFirst(quota, minute), 1.012},
		{"sliding log", sliding(quota, minute), 1.012}, {"sliding counter", counter(quota, minute), 1.015}, {"bucket", tokens(50, 100), 1.015},
	}
	for name, f := range forms {
		for _, k := range kinds {
			w := want{ratio: k.ratio, per1000: 0.3}
			if name == "down" || name == "nearest" || name == "epoch, down" {
				w.per1000 += once
			}
			if k.name == "sliding counter" {
				w.per1000 += once // at the edge it gives back nothing yet
			}
			judge(t, k.name+", resets "+name, job(offStep, 16, uniform(10*time.Millisecond), f, k.serve), w)
		}
	}
}

// Processes that know nothing of each other share one quota evenly, use it whole, and are not refused; also beside a stranger
// who takes a third of it and paces nothing.
func TestStrangersShareEvenly(t *testing.T) {
	window, small, large := fixed(1200, minute), tokens(20, 50), tokens(20, 1200)
	for _, jitter := range jitters {
		j, at := exponential(jitter), ", jitter "+jitter.String()
		judge(t, "two on a window"+at, shared(2, 0, j, window), want{per1000: 0.5, used: 0.985, jain: 0.98, spread: 1.5})
		judge(t, "ten on a window"+at, shared(10, 0, j, window), want{per1000: 0.5, used: 0.985, jain: 0.98, spread: 1.5})
		judge(t, "two on a bucket"+at, shared(2, 0, j, small), want{per1000: 0.5, used: 0.985, jain: 0.99, spread: 1.5})
		judge(t, "ten on a bucket"+at, shared(10, 0, j, small), want{per1000: 3, used: 0.985, jain: 0.95, spread: 2})
		judge(t, "ten on a large bucket"+at, shared(10, 0, j, large), want{per1000: 0.5, used: 0.985, jain: 0.95, spread: 2})
	}
	j := exponential(10 * time.Millisecond)
	judge(t, "one beside a stranger on a window", shared(1, 6, j, window), want{per1000: 2, used: 0.985})
	judge(t, "ten beside a stranger on a window", shared(10, 6, j, window), want{per1000: 2, used: 0.985, jain: 0.98, spread: 1.5})
	judge(t, "one beside a stranger on a bucket", shared(1, 6, j, small), want{per1000: 0.5, used: 0.985})
	judge(t, "ten beside a stranger on a bucket", shared(10, 6, j, small), want{per1000: 3, used: 0.985, jain: 0.95, spread: 2})

	pair := job(2700, 16, uniform(6*time.Millisecond), millis, tokens(10, 60))
	pair.processes = 2
	judge(t, "a job of two on a bucket", pair, want{ratio: 1.006, jain: 0.99})
}

// What is learned is followed when it changes, and when it was half used before.
func TestChangesAreFollowed(t *testing.T) {
	kinds := []struct {
		name  string
		serve func(*world) server
	}{{"window", fixed(quota, minute)}, {"log", sliding(quota, minute)}, {"bucket", tokens(10, quota)}}
	for _, k := range kinds {
		late := time.Duration(0)
		if k.name == "window" {
			late = minute // it was used up already, and no answer tells before its end
		}
		up := job(3*quota+quota/2, 16, uniform(10*time.Millisecond), forms["up"], k.serve)
		down := up
		up.script, down.script = changed(3*quota), changed(quota/3)
		down.calls = 2*quota + quota/6
		judge(t, k.name+", limit raised threefold", up, want{ratio: 1.03, late: late, per1000: 2})
		judge(t, k.name+", limit cut to a third", down, want{ratio: 1.02, per1000: 3})
	}
	for name, f := range map[string]form{"up": forms["up"], "exact": millis} {
		s := job(600, 16, uniform(10*time.Millisecond), f, tokens(10, 60))
		s.script = slowed
		judge(t, "bucket that slows down, resets "+name, s, want{ratio: 1.03, per1000: 8})
	}
	s := job(300, 16, uniform(10*time.Millisecond), millis, tokens(5, 5))
	s.script = slowed
	judge(t, "small bucket that slows down", s, want{ratio: 1.03, per1000: 20})
	s = job(offStep, 16, uniform(10*time.Millisecond), forms["up"], fixed(quota, minute))
	s.script = before(func(w *world, up *upstream) { askMany(up, 200, w.now, 0) })
	judge(t, "window used before", s, want{ratio: 1.005})
	s.serve = tokens(50, 100)
	s.script = before(func(w *world, up *upstream) { askMany(up, 90, w.now, 0) })
	judge(t, "bucket used before", s, want{ratio: 1.01})
	s.serve = sliding(quota, minute)
	s.script = before(func(w *world, up *upstream) { askMany(up, 300, w.now-40*time.Second, 100*time.Millisecond) })
	judge(t, "log used before", s, want{ratio: 1.12, per1000: 3}) // its length never shows: what others used expires first
}

func askMany(up *upstream, n int, from, gap time.Duration) {
	for i := range n {
		up.ask(from+time.Duration(i)*gap, 1)
	}
}

// Servers that say less, or say it badly.
func TestPoorHeadersAreMadeTheMostOf(t *testing.T) {
	up, j := forms["up"], uniform(10*time.Millisecond)
	window, bucket := fixed(quota, minute), tokens(20, 40)
	for _, workers := range []int{1, 16, 256} {
		name := func(s string) string { return fmt.Sprintf("%s, W=%d", s, workers) }
		rows := []struct {
			name  string
			calls int
			tell  form
			serve func(*world) server
			want  want
		}{
			{"remaining rounded to tens", offStep, rounded(up, 10), window, want{ratio: 1.01}},
			{"remaining rounded to hundreds", offStep, rounded(up, 100), window, want{ratio: 1.015}},
			{"a log's remaining rounded to tens", offStep, rounded(up, 10), sliding(quota, minute), want{ratio: 1.02, per1000: 0.3}},
			{"remaining told anew every five seconds", offStep, frozen(up, 5*time.Second), window, want{ratio: 1.006}},
			{"a window without remaining", offStep, withoutRemaining(up), window, want{ratio: 1.006}},
			{"a bucket without resets", 1000, withoutReset(up), bucket, want{ratio: 1.01}},
			{"a bucket's remaining alone", 1000, onlyRemaining(up), bucket, want{ratio: 1.01}},
			{"a bucket's next unit", offStep, up, nextToken(50, 100), want{ratio: 1.015}},
			{"a bucket's next unit, exact", offStep, millis, nextToken(50, 100), want{ratio: 1.015}},
			{"a log's newest call", offStep, up, newest(quota, minute), want{ratio: 1.01}},
			{"ten a second", 195, up, fixed(10, time.Second), want{ratio: 1.17}},
			{"ten a second, exact", 195, millis, fixed(10, time.Second), want{ratio: 1.08}},
			{"fifty in ten seconds", 325, up, fixed(50, 10*time.Second), want{ratio: 1.02}},
			{"five a minute", 23, up, fixed(5, time.Minute), want{ratio: 1.006}},
			{"a thousand a day", 1500, up, fixed(1000, 24*time.Hour), want{ratio: 1.001}},
			{"a length that is not round", offStep, up, fixed(quota, 37*time.Second), want{ratio: 1.008}},
			{"a length just beyond a round one", offStep, up, fixed(quota, 61*time.Second), want{ratio: 1.006}},
		}
		for _, r := range rows {
			judge(t, name(r.name), job(r.calls, workers, j, r.tell, r.serve), r.want)
		}
	}
}

func nextToken(rate, burst float64) func(*world) server {
	return func(*world) server {
		b := newBucket(rate, burst)
		b.toNext = true
		return b
	}
}

func newest(limit float64, d time.Duration) func(*world) server {
	return func(*world) server { return &logServer{limit: limit, length: d, toFull: true} }
}

// A share below the limit is never exceeded in any window, nor in any length of a bucket, and is used whole.
func TestCapIsKept(t *testing.T) {
	const limit = 300
	for name, c := range map[string]struct {
		serve func(*world) server
		most  int // within a minute
	}{
		"window": {fixed(quota, minute), 2 * limit}, // of two that touch
		"log":    {sliding(quota, minute), limit},
		"bucket": {tokens(10, quota), 2 * limit}, // the burst, and what flows in meanwhile
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := job(3*limit+limit/2, 16, uniform(6*time.Millisecond), forms["up"], c.serve)
			s.setup = func(_ int, p *process) { p.mir.SetCap(limit) }
			f := s.play(1, false)
			assert.Zero(t, f.refused)
			assert.LessOrEqual(t, mostWithin(f.arrived, minute), c.most)
			assert.LessOrEqual(t, f.makespan, 4*minute)
		})
	}
}

// mostWithin is the greatest number of moments within any span.
func mostWithin(at []time.Duration, span time.Duration) int {
	most, first := 0, 0
	for i, t := range at {
		for at[first] <= t-span {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}
