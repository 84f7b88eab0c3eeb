package bank

import (
	"container/heap"
	"time"
)

// scenario is one server, and the clients that have to find out how it counts.
type scenario struct {
	name    string
	calls   int // in all
	workers int // of each client
	clients int // processes that know nothing of each other; zero is one
	jitter  time.Duration
	service time.Duration // mean; zero is 120 ms
	hints   bool          // the server sends Retry-After
	lasts   time.Duration // end of the play; zero plays until all calls are done
	server  func(w *world) server
	// what the bound is taken from, if not from the server and all workers
	ideal        func(w *world) server
	idealWorkers int
}

// result is the outcome of a play.
type result struct {
	start    time.Duration
	clients  []*client
	ratio    float64 // makespan ÷ that of a client that knows everything
	refusals int     // but those while the server was down
	down     int     // those
	per1000  float64 // refusals for 1000 calls that were let in
	jain     float64
	p99      time.Duration // of the waits
	lost     int           // calls turned away ten times
	left     int           // calls that never ended
	bans     int
}

// longest is when a play is given up.
const longest = 24 * time.Hour

func (s *scenario) play(seed uint64) result {
	w := newWorld(seed, s.jitter)
	if s.service > 0 {
		w.mean = s.service
	}
	w.start = time.Duration(w.rng.Float64() * float64(time.Hour))
	srv := w.build(s.server)
	r := result{start: w.start}
	for range max(s.clients, 1) {
		c := &client{w: w, srv: srv, hints: s.hints, bank: New()}
		r.clients = append(r.clients, c)
		w.after(w.start, func() { c.start(s.calls/max(s.clients, 1), s.workers) })
	}
	end := longest
	if s.lasts > 0 {
		end = s.lasts
	}
	w.run(w.start + end)
	r.sum(s, w, srv)
	return r
}

func (r *result) sum(s *scenario, w *world, srv server) {
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
	switch srv := srv.(type) {
	case *banServer:
		r.bans = srv.bans
	case *downServer:
		r.down = srv.turned
	}
	r.refusals -= r.down
	r.left = s.calls - done - r.lost
	r.per1000 = 1000 * float64(r.refusals) / float64(max(done, 1))
	r.jain = jain(shares)
	if s.lasts == 0 {
		r.ratio = (last - r.start).Seconds() / s.bound(w).Seconds()
	}
}

// bound is the makespan of a client that knows when the server will let a call in, with mean latencies and no jitter.
func (s *scenario) bound(w *world) time.Duration {
	build, n := s.server, s.workers*max(s.clients, 1)
	if s.ideal != nil {
		build = s.ideal
	}
	if s.idealWorkers > 0 {
		n = min(n, s.idealWorkers)
	}
	srv := w.build(build)
	workers := make(idle, n)
	for i := range workers {
		workers[i] = w.start
	}
	var now time.Duration
	for range s.calls {
		now = admission(srv, max(now, workers[0]))
		workers[0] = now + w.mean + w.rtt()
		heap.Fix(&workers, 0)
	}
	return now + w.mean + w.rtt() - w.start
}

// admission is when a server lets a call in that comes as soon as it can.
func admission(srv server, now time.Duration) time.Duration {
	for {
		ok, free := srv.admit(now)
		if ok {
			return now
		}
		now = free
	}
}

// idle is when each worker will be free.
type idle []time.Duration

func (h idle) Len() int           { return len(h) }
func (h idle) Less(i, k int) bool { return h[i] < h[k] }
func (h idle) Swap(i, k int)      { h[i], h[k] = h[k], h[i] }
func (h *idle) Push(any)          {}
func (h *idle) Pop() any          { return nil }

// in counts the moments from one time after the start to another.
func (r *result) in(of func(*client) []time.Duration, from, until time.Duration) (n int) {
	for _, c := range r.clients {
		for _, at := range of(c) {
			if at >= r.start+from && at < r.start+until {
				n++
			}
		}
	}
	return n
}

func done(c *client) []time.Duration      { return c.doneAt }
func turnedOff(c *client) []time.Duration { return c.refusedAt }
