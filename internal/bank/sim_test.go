package bank

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"time"
)

// The simulation is a queue of events in virtual time: clients and a server joined by a network. Nothing in it waits.

type event struct {
	at  time.Duration
	seq int
	do  func()
}

type agenda []event

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, k int) bool {
	return a[i].at < a[k].at || a[i].at == a[k].at && a[i].seq < a[k].seq
}
func (a agenda) Swap(i, k int) { a[i], a[k] = a[k], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(event)) }
func (a *agenda) Pop() any {
	old := *a
	last := old[len(old)-1]
	*a = old[:len(old)-1]
	return last
}

type world struct {
	now    time.Duration
	seq    int
	events agenda
	rng    *rand.Rand
	seed   uint64
	setup  *rand.Rand    // for the server
	base   time.Duration // one way, without jitter
	jitter time.Duration
	mean   time.Duration // of the service
	start  time.Duration // when the clients begin
}

func newWorld(seed uint64, jitter time.Duration) *world {
	rng := rand.New(rand.NewPCG(seed, 0x9E3779B97F4A7C15))
	return &world{rng: rng, seed: seed, jitter: jitter, mean: meanService, base: 8*time.Millisecond + time.Duration(rng.Float64()*6e6)}
}

func (w *world) after(d time.Duration, do func()) {
	w.seq++
	heap.Push(&w.events, event{w.now + d, w.seq, do})
}

// run plays until nothing happens any more, or until the end.
func (w *world) run(end time.Duration) {
	for len(w.events) > 0 && w.events[0].at <= end {
		e := heap.Pop(&w.events).(event)
		w.now = e.at
		e.do()
	}
}

// rtt is the mean time on the way to the server and back.
func (w *world) rtt() time.Duration { return 2*w.base + w.jitter }

// way is how long a message travels.
func (w *world) way() time.Duration {
	return w.base + time.Duration(w.rng.Float64()*float64(w.jitter))
}

// service is how long the server works on a call that it lets in: log-normal, mean 120 ms unless told otherwise.
func (w *world) service() time.Duration {
	const sigma = 0.4
	return time.Duration(float64(w.mean) * math.Exp(sigma*w.rng.NormFloat64()-sigma*sigma/2))
}

// build makes a server; twice the same, though much about it is random.
func (w *world) build(s func(*world) server) server {
	w.setup = rand.New(rand.NewPCG(w.seed, 1))
	return s(w)
}

// between is a time at random, for servers.
func (w *world) between(from, to time.Duration) time.Duration {
	return from + time.Duration(w.setup.Float64()*float64(to-from))
}

const meanService = 120 * time.Millisecond
