package bank

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func window(limit int, span time.Duration) func(*world) server {
	return func(*world) server { return &fixedServer{limit: limit, span: span} }
}

func sliding(limit int, span time.Duration, harsh bool) func(*world) server {
	return func(*world) server { return &logServer{limit: limit, span: span, harsh: harsh} }
}

func bucket(rate, burst float64) func(*world) server {
	return func(*world) server { return &bucketServer{rate: rate, burst: burst} }
}

// down turns everything away for a time that begins between half a minute and one and a half after the start.
func down(shortest, longest time.Duration, s func(*world) server) func(*world) server {
	return func(w *world) server {
		from := w.start + 30*time.Second + w.between(0, time.Minute)
		return &downServer{server: s(w), from: from, until: from + w.between(shortest, longest)}
	}
}

func changing(after time.Duration, a, b func(*world) server) func(*world) server {
	return func(w *world) server { return &changingServer{a(w), b(w), w.start + after} }
}

// goal is what a row of the table has to reach on average: makespan ÷ bound, and refusals per 1000 calls, with 16 workers and up to 10 ms
// of jitter.
type goal struct {
	ratio, per1000 float64
	rough          float64 // the ratio with other crowds and 60 ms of jitter
}

// row is a server, and what has to be reached when it says nothing, and when it sends Retry-After.
type row struct {
	scenario
	blind, told goal
	short       string // what was wanted, where it is not reached, and why
	flood       int    // calls that 256 workers have under way when the limit falls
	loses       bool   // now and then a call is turned away ten times, if one worker tries it again and again
}

func rows() []row {
	return append(limits(), troubles()...)
}

// limits are servers that count in one way all the time.
func limits() []row {
	minute := time.Minute
	unknownPhase := func(w *world) server {
		return &fixedServer{limit: 100, span: minute, phase: w.between(0, minute)}
	}
	onFirst := func(*world) server { return &fixedServer{limit: 100, span: minute, onFirst: true} }
	slots := func(*world) server { return &slotServer{slots: 8} }
	open := func(*world) server { return openServer{} }
	return []row{
		{scenario{name: "window", calls: 550, server: window(100, minute)},
			goal{1.001, 15.5, 1.01}, goal{1.001, 11, 1.01}, "", 0, false},
		{scenario{name: "window of unknown phase", calls: 550, server: unknownPhase},
			goal{1.10, 20, 1.15}, goal{1.01, 11, 1.01}, "", 0, false},
		{scenario{name: "window on first call", calls: 550, server: onFirst},
			goal{1.01, 24, 1.05}, goal{1.01, 24, 1.05}, "", 0, false},
		{scenario{name: "log", calls: 550, server: sliding(100, minute, false)},
			goal{1.01, 24, 1.10}, goal{1.01, 24, 1.10}, "", 0, false},
		{scenario{name: "log that counts refusals", calls: 550, server: sliding(100, minute, true), ideal: sliding(100, minute, false)},
			goal{1.02, 29, 1.10}, goal{1.015, 29, 1.10}, "", 0, false},
		{scenario{name: "bucket", calls: 500, server: bucket(5, 20)},
			goal{1.01, 16.5, 1.02}, goal{1.01, 16, 1.02}, "", 0, false},
		{scenario{name: "bucket of burst 1", calls: 500, server: bucket(5, 1)},
			goal{1.09, 21, 1.40}, goal{1.14, 21, 1.50},
			"wanted 1.07 and 1.12, reached with 3 ms of jitter; with more the guard, which keeps refusals at 10, costs its length on each call", 0, false},
		{scenario{name: "slots", calls: 2000, service: 450 * time.Millisecond, server: slots, ideal: open, idealWorkers: 8},
			goal{1.04, 2.3, 1.07}, goal{1.06, 2.3, 1.07}, "", 0, false},
	}
}

// troubles are servers that do something else by and by.
func troubles() []row {
	minute := time.Minute
	ban := func(w *world) server { return &banServer{server: window(100, minute)(w), tolerated: 5} }
	return []row{
		{scenario{name: "outage", calls: 500, server: down(5*time.Second, 10*time.Second, bucket(5, 20))},
			goal{1.04, 17, 1.70}, goal{1.02, 17, 1.06},
			"wanted 1.016: after an outage of 5 to 10 s the next probe is 2.4 s away, as they come 1, 2.5, 4.8, 8.1, 13.2 … s after the first", 0, false},
		{scenario{name: "long outage", calls: 500, server: down(20*time.Second, 40*time.Second, bucket(5, 20))},
			goal{1.09, 17, 1.70}, goal{1.03, 17, 1.15},
			"the next probe is 8 s away; one worker on a rough network never met the limit before, and cannot tell an outage from one", 0, false},
		{scenario{name: "storm", calls: 500, server: down(10*time.Second, 20*time.Second, bucket(5, 20))},
			goal{1.05, 29, 1.70}, goal{1.03, 29, 1.10},
			"wanted 1.024: the next probe is 4 s away", 0, false},
		{scenario{name: "storm over a window", calls: 550, server: down(10*time.Second, 20*time.Second, window(100, minute))},
			goal{1.024, 29, 1.10}, goal{1.02, 29, 1.10}, "", 0, false},
		{scenario{name: "bans", calls: 550, server: ban},
			goal{1.001, 15.5, 1.01}, goal{1.001, 11, 1.01}, "", 0, false},
		{scenario{name: "limit × 3", calls: 3050, server: changing(5*minute, window(100, minute), window(300, minute))},
			goal{1.11, 10, 1.15}, goal{1.11, 10, 1.20},
			"a law that is right is asked for more at its 4th, 8th, 16th … boundary, the limit rises soon after the 4th, and a refusal among so few calls is not cheap", 0, false},
		{scenario{name: "limit ÷ 3", calls: 1550, server: changing(5*minute/2, window(300, minute), window(100, minute))},
			goal{1.02, 20, 1.30}, goal{1.02, 20, 1.15},
			"a crowd that knows a limit is let loose at once; one worker has only the one call to find out with, and needs all ten attempts", 156, true},
	}
}

// seeds is how many plays a figure is the average of: 20, or BANK_SEEDS.
func seeds() uint64 {
	if n, err := strconv.Atoi(os.Getenv("BANK_SEEDS")); err == nil && n > 0 {
		return uint64(n)
	}
	return 20
}

// figures are the averages over some plays.
type figures struct {
	ratio, worst, per1000, p99, down float64
	lost, left, bans                 int
}

func (s *scenario) repeat() (f figures) {
	n := float64(seeds())
	for seed := range seeds() {
		r := s.play(seed)
		f.ratio += r.ratio / n
		f.worst = max(f.worst, r.ratio)
		f.per1000 += r.per1000 / n
		f.p99 += r.p99.Seconds() / n
		f.down += float64(r.down) / n
		f.lost += r.lost
		f.left += r.left
		f.bans += r.bans
	}
	return f
}

// crowd is so many workers on a network with so much jitter.
type crowd struct {
	workers int
	jitter  time.Duration
}

func crowds() (all []crowd) {
	for _, workers := range []int{1, 16, 256} {
		for _, jitter := range []time.Duration{3 * time.Millisecond, 10 * time.Millisecond, 60 * time.Millisecond} {
			all = append(all, crowd{workers, jitter})
		}
	}
	return all
}

func (c crowd) usual() bool { return c.workers == 16 && c.jitter <= 10*time.Millisecond }

// overrun is how many calls leave while the first refusal is on its way, if the server lets in so many before. Nobody can call them back.
func (c crowd) overrun(limit float64) float64 {
	rtt := 2*11*time.Millisecond + c.jitter
	flying := min(float64(c.workers), 1+rampStep*limit)
	return flying * float64(rtt) / float64(rtt+meanService)
}

// expected is what a goal comes to with a crowd.
func (r *row) expected(g goal, c crowd) goal {
	if c.usual() {
		return g
	}
	excess := max(c.overrun(100)-crowd{16, 10 * time.Millisecond}.overrun(100), 0)
	rough := 1.
	if c.workers == 256 {
		rough = 1.25 // it overruns what is believed by mistake, too
		excess += float64(r.flood)
	}
	if c.jitter > 10*time.Millisecond {
		rough = 1.5 // the guard is a third of the least round trip, which is far less than this jitter
	}
	return goal{ratio: g.rough, per1000: rough * (g.per1000 + 1000*excess/float64(r.calls))}
}

func TestEveryServerIsFoundOut(t *testing.T) {
	for _, r := range rows() {
		for _, c := range crowds() {
			blind := r.scenario
			blind.workers, blind.jitter = c.workers, c.jitter
			told := blind
			told.hints = true
			t.Run(fmt.Sprintf("%s/%d workers/%v/blind", r.name, c.workers, c.jitter), func(t *testing.T) {
				t.Parallel()
				r.reached(t, &blind, r.expected(r.blind, c))
			})
			t.Run(fmt.Sprintf("%s/%d workers/%v/Retry-After", r.name, c.workers, c.jitter), func(t *testing.T) {
				t.Parallel()
				r.reached(t, &told, r.expected(r.told, c))
			})
		}
	}
}

func (r *row) reached(t *testing.T, s *scenario, g goal) {
	f := s.repeat()
	t.Logf("makespan ÷ bound %.3f of %.3f (worst %.3f), refusals per 1000 %.1f of %.1f, while down %.1f, p99 wait %.1f s, lost %d %s",
		f.ratio, g.ratio, f.worst, f.per1000, g.per1000, f.down, f.p99, f.lost, r.short)
	assert.LessOrEqual(t, f.ratio, g.ratio, "makespan ÷ bound")
	assert.LessOrEqual(t, f.per1000, g.per1000, "refusals per 1000")
	if !r.loses || s.workers > 1 {
		assert.Zero(t, f.lost, "calls turned away ten times")
	}
	assert.Zero(t, f.left, "calls that never ended")
	assert.Zero(t, f.bans, "bans")
}
