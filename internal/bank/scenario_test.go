package bank

import (
	"fmt"
	"os"
	"testing"
	"time"
)

type scenario struct {
	name    string
	n       int
	workers int
	jitter  time.Duration
	clients int
	service time.Duration
	hints   bool
	server  func(w *world) server
	bound   func(s *scenario, w *world, at time.Duration) time.Duration
}

type result struct {
	ratio, per1000 float64
	refusals       int
	lost           int
	left           int
	makespan       time.Duration
	p99            time.Duration
	jain           float64
}

func (s *scenario) play(seed uint64, trace func(string, ...any)) result {
	w := newWorld(seed, s.jitter)
	if s.service > 0 {
		w.mean = s.service
	}
	srv := s.server(w)
	start := time.Duration(w.rng.Float64() * 3600e9)
	clients := make([]*client, max(s.clients, 1))
	for i := range clients {
		c := &client{w: w, srv: srv, hints: s.hints, bank: New(), trace: trace}
		clients[i] = c
		w.after(start, func() { c.start(s.n/len(clients), s.workers) })
	}
	w.run(start + 48*time.Hour)
	var r result
	shares := []float64{}
	done := 0
	for _, c := range clients {
		r.refusals += c.refusals
		r.lost += c.lost
		done += c.done
		if len(c.doneAt) > 0 {
			r.makespan = max(r.makespan, c.doneAt[len(c.doneAt)-1]-start)
		}
		shares = append(shares, float64(c.done))
		r.p99 = max(r.p99, quantile(c.waits, .99))
	}
	r.left = s.n - done - r.lost
	r.ratio = r.makespan.Seconds() / s.bound(s, w, start).Seconds()
	r.per1000 = 1000 * float64(r.refusals) / float64(max(done, 1))
	r.jain = jain(shares)
	return r
}

func rtt(w *world) time.Duration { return 2*w.base + w.jitter }

func (s *scenario) drain(w *world, n int) time.Duration {
	rounds := (n + s.workers - 1) / s.workers
	return time.Duration(rounds) * (meanService + rtt(w))
}

func fixedBound(q int, span time.Duration) func(*scenario, *world, time.Duration) time.Duration {
	return func(s *scenario, w *world, at time.Duration) time.Duration {
		into := at % span
		first := min(q, int(float64(s.workers)*(span-into).Seconds()/(meanService+rtt(w)).Seconds()))
		rest := s.n - first
		if rest <= 0 {
			return s.drain(w, s.n)
		}
		k := (rest + q - 1) / q
		return time.Duration(k)*span - into + s.drain(w, rest-(k-1)*q)
	}
}

func logBound(q int, span time.Duration) func(*scenario, *world, time.Duration) time.Duration {
	return func(s *scenario, w *world, at time.Duration) time.Duration {
		k := (s.n + q - 1) / q
		return max(time.Duration(k-1)*span+s.drain(w, s.n-(k-1)*q), s.drain(w, s.n))
	}
}

func bucketBound(rate, burst float64) func(*scenario, *world, time.Duration) time.Duration {
	return func(s *scenario, w *world, at time.Duration) time.Duration {
		return max(seconds((float64(s.n)-burst)/rate)+meanService+rtt(w), s.drain(w, s.n))
	}
}

func scenarios() []scenario {
	min1 := time.Minute
	return []scenario{
		{name: "fixed", n: 550, server: func(*world) server { return &fixedServer{limit: 100, span: min1} }, bound: fixedBound(100, min1)},
		{name: "sliding", n: 550, server: func(*world) server { return &logServer{limit: 100, span: min1} }, bound: logBound(100, min1)},
		{name: "harsh", n: 550, server: func(*world) server { return &logServer{limit: 100, span: min1, harsh: true} }, bound: logBound(100, min1)},
		{name: "bucket", n: 500, server: func(*world) server { return &bucketServer{rate: 5, burst: 20} }, bound: bucketBound(5, 20)},
		{name: "leaky", n: 500, server: func(*world) server { return &bucketServer{rate: 5, burst: 1} }, bound: bucketBound(5, 1)},
		{name: "slots", n: 500, service: 450 * time.Millisecond, server: func(*world) server { return &slotServer{slots: 8} }, bound: func(s *scenario, w *world, _ time.Duration) time.Duration {
			c := min(8, s.workers)
			return time.Duration((s.n+c-1)/c) * (w.mean + rtt(w))
		}},
	}
}

func TestTable(t *testing.T) {
	for _, s := range scenarios() {
		if only := os.Getenv("ONLY"); only != "" && only != s.name {
			continue
		}
		for _, hints := range []bool{false, true} {
			for _, workers := range []int{1, 16, 256} {
				for _, jitter := range []time.Duration{3, 10, 60} {
					s.workers, s.jitter, s.hints = workers, jitter*time.Millisecond, hints
					var ratio, ref, worst, most float64
					var worstSeed, mostSeed uint64
					lost, left := 0, 0
					const seeds = 20
					for seed := range uint64(seeds) {
						r := s.play(seed, nil)
						ratio += r.ratio / seeds
						ref += r.per1000 / seeds
						if r.ratio > worst {
							worst, worstSeed = r.ratio, seed
						}
						if r.per1000 > most {
							most, mostSeed = r.per1000, seed
						}
						lost += r.lost
						left += r.left
					}
					t.Logf("%-8s hints %5v W %3d J %2d: ratio %.3f (worst %.3f #%d) ref %6.1f (most %.0f #%d) lost %d left %d", s.name, hints, workers, jitter, ratio, worst, worstSeed, ref, most, mostSeed, lost, left)
				}
			}
		}
	}
}

func TestTrace(t *testing.T) {
	name := os.Getenv("TRACE")
	for _, s := range scenarios() {
		if s.name != name {
			continue
		}
		s.workers, s.jitter = 16, 10*time.Millisecond
		var seed uint64
		hint := 0
		fmt.Sscan(os.Getenv("ARGS"), &seed, &s.workers, &s.jitter, &hint)
		s.hints = hint == 1
		if s.jitter < 1000 {
			s.jitter *= time.Millisecond
		}
		r := s.play(seed, func(f string, a ...any) { fmt.Printf(f+"\n", a...) })
		fmt.Printf("%+v\n", r)
	}
}
