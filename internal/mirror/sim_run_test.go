package mirror

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// A scenario is one job against one server.
type scenario struct {
	calls     int // of all processes together
	workers   int // of each process
	processes int
	jitter    func(*rand.Rand) time.Duration
	service   time.Duration
	horizon   time.Duration // when to stop though calls are left; 0 is never
	serve     func(w *world) server
	tell      form
	foreign   float64 // calls a second that somebody else makes
	capacity  func(s server, from, to time.Duration) (units float64, start, end time.Duration)
	script    func(w *world, up *upstream, ps []*process)
	setup     func(i int, p *process)
}

// figures are what a run came to.
type figures struct {
	done, refused int
	makespan      time.Duration
	bound         time.Duration
	jain          float64
	p50, p99      time.Duration
	spread        float64 // greatest over least p99 wait of the processes
	arrived       []time.Duration
	each          []fate
	used          float64 // of what the server had to give, by all
}

func (f figures) ratio() float64 { return float64(f.makespan) / float64(f.bound) }
func (f figures) per1000() float64 {
	return 1000 * float64(f.refused) / float64(max(1, f.done))
}

func (f figures) String() string {
	return fmt.Sprintf("done %d makespan %.2fs ratio %.4f refused %d (%.2f/1000) jain %.3f p50 %v p99 %v spread %.2f",
		f.done, f.makespan.Seconds(), f.ratio(), f.refused, f.per1000(), f.jain, f.p50.Round(time.Millisecond), f.p99.Round(time.Millisecond), f.spread)
}

// run plays the job, and once more against a server that lets early calls wait: no client can be faster than that. A scenario that
// only stops at its horizon has no such bound.
func (s scenario) run(seed uint64) figures {
	f := s.play(seed, false)
	if s.horizon == 0 {
		f.bound = s.play(seed, true).makespan
	}
	return f
}

func (s scenario) play(seed uint64, patient bool) figures {
	w := newWorld(seed)
	w.now = time.Duration(w.rng.Float64() * float64(time.Hour))
	start := w.now
	up := &upstream{server: s.serve(w), tell: s.tell, service: logNormal(s.service), patient: patient}
	left := s.calls
	ps := make([]*process, max(1, s.processes))
	for i := range ps {
		p := &process{w: w, up: up, left: &left, mir: New(w.date())}
		p.net = network{base: 8*time.Millisecond + time.Duration(w.rng.Float64()*float64(6*time.Millisecond)), jitter: s.jitter}
		ps[i] = p
		if s.setup != nil {
			s.setup(i, p)
		}
		w.after(time.Duration(w.rng.Float64()*float64(20*time.Millisecond)), func() { p.start(s.workers) })
	}
	if s.foreign > 0 {
		up.drain(w, s.foreign)
	}
	if s.script != nil {
		s.script(w, up, ps)
	}
	horizon := time.Duration(math.MaxInt64)
	if s.horizon > 0 {
		horizon = start + s.horizon
	}
	w.run(horizon)
	f := gather(ps, start)
	f.arrived = up.arrived
	if s.capacity != nil {
		units, a, b := s.capacity(up.server, start, horizon)
		n := 0
		for _, t := range up.arrived {
			if t >= a && t < b {
				n++
			}
		}
		f.used = float64(n) / units
	}
	return f
}

// drain lets somebody else call the server at random, rate times a second.
func (u *upstream) drain(w *world, rate float64) {
	var next func()
	next = func() {
		if u.ask(w.now, 1).ok {
			u.arrived = append(u.arrived, w.now)
		}
		w.after(seconds(w.rng.ExpFloat64()/rate), next)
	}
	w.after(seconds(w.rng.ExpFloat64()/rate), next)
}

func gather(ps []*process, start time.Duration) figures {
	f := figures{spread: 1}
	var all []time.Duration
	var sum, squares float64
	least, most := time.Duration(math.MaxInt64), time.Duration(0)
	for _, p := range ps {
		f.each = append(f.each, p.got)
		f.done += p.got.done
		f.refused += p.got.refused
		f.makespan = max(f.makespan, p.got.last-start)
		sum += float64(p.got.done)
		squares += float64(p.got.done) * float64(p.got.done)
		all = append(all, p.got.waits...)
		p99 := quantile(p.got.waits, 0.99)
		least, most = min(least, p99), max(most, p99)
	}
	f.jain = sum * sum / (float64(len(ps)) * max(1, squares))
	f.p50, f.p99 = quantile(all, 0.5), quantile(all, 0.99)
	if least > 0 {
		f.spread = float64(most) / float64(least)
	}
	return f
}

func quantile(d []time.Duration, q float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	d = slices.Clone(d)
	slices.Sort(d)
	return d[int(q*float64(len(d)-1))]
}
