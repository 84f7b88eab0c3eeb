package bank

import (
	"container/heap"
	"time"
)

// scenario is one server, and the clients that have to find out how it counts.
type scenario struct {
	name         string
	calls        int // in all
	workers      int // of each client
	clients      int // processes that know nothing of each other
	jitter       time.Duration
	service      time.Duration // mean; zero is 120 ms
	hints        bool          // the server sends Retry-After
	server       func(w *world) server
	ideal        func(w *world) server // what the bound is taken from, if not from the server itself
	idealWorkers int                   // how many the bound is taken with, if fewer
	lasts        time.Duration         // end of the play; zero plays until all calls are done
}

// outcome of a play.
type result struct {
	ratio    float64 // makespan ÷ that of a client that knows everything
	per1000  float64 // refusals for 1000 calls that were let in
	jain     float64
	p99      time.Duration // wait
	refusals int
	lost     int // calls turned away ten times
	left     int // calls that never ended
	bans     int
	clients  []*client
	start    time.Duration
}

// longest is when a play is given up.
const longest = 24 * time.Hour

func (s *scenario) play(seed uint64) result { return s.playTraced(seed, nil) }

func (s *scenario) playTraced(seed uint64, trace func(string, ...any)) result {
	w := newWorld(seed, s.jitter)
	if s.service > 0 {
		w.mean = s.service
	}
	w.start = time.Duration(w.rng.Float64() * float64(time.Hour))
	srv := w.build(s.server)
	r := result{start: w.start}
	for range max(s.clients, 1) {
		c := &client{w: w, srv: srv, hints: s.hints, bank: New(), trace: trace, every: 50}
		r.clients = append(r.clients, c)
		w.after(w.start, func() { c.start(s.calls/max(s.clients, 1), s.workers) })
	}
	end := longest
	if s.lasts > 0 {
		end = s.lasts
	}
	w.run(w.start + end)
	if b, ok := srv.(*banServer); ok {
		r.bans = b.bans
	}
	r.sum(s, w)
	return r
}

func (r *result) sum(s *scenario, w *world) {
	var last time.Duration
	var done int
	var shares []float64
	for _, c := range r.clients {
		done += len(c.doneAt)
		r.refusals += c.refusals
		r.lost += c.lost
		shares = append(shares, float64(len(c.doneAt)))
		r.p99 = max(r.p99, quantile(c.waits, .99))
		if n := len(c.doneAt); n > 0 {
			last = max(last, c.doneAt[n-1])
		}
	}
	r.left = s.calls - done - r.lost
	r.per1000 = 1000 * float64(r.refusals) / float64(max(done, 1))
	r.jain = jain(shares)
	if s.lasts == 0 {
		r.ratio = (last - r.start).Seconds() / s.bound(w).Seconds()
	}
}

// bound is the makespan of a client that knows when the server will let a call in, with mean latencies and no jitter.
func (s *scenario) bound(w *world) time.Duration {
	build := s.server
	if s.ideal != nil {
		build = s.ideal
	}
	srv := w.build(build)
	rtt := 2*w.base + w.jitter
	n := s.workers * max(s.clients, 1)
	if s.idealWorkers > 0 {
		n = min(n, s.idealWorkers)
	}
	workers := make(idle, n)
	for i := range workers {
		workers[i] = w.start
	}
	var last, now time.Duration
	for range s.calls {
		now = max(now, workers[0])
		for {
			ok, free := srv.admit(now)
			if ok {
				break
			}
			now = free
		}
		last = max(last, now+w.mean+rtt)
		workers[0] = now + w.mean + rtt
		heap.Fix(&workers, 0)
	}
	return last - w.start
}

// idle is when each worker will be free.
type idle []time.Duration

func (h idle) Len() int           { return len(h) }
func (h idle) Less(i, k int) bool { return h[i] < h[k] }
func (h idle) Swap(i, k int)      { h[i], h[k] = h[k], h[i] }
func (h *idle) Push(any)          {}
func (h *idle) Pop() any          { return nil }
