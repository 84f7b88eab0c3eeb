package mirror

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"time"
)

// A world is a discrete-event simulation: things that will happen, in order of time. It knows nothing of mirrors.
type world struct {
	now    time.Duration
	events eventHeap
	made   int
	rng    *rand.Rand
}

func newWorld(seed uint64) *world {
	return &world{rng: rand.New(rand.NewPCG(seed, 17))}
}

// epoch is where simulated time begins on the calendar. It is off every round second.
var epoch = time.Date(2026, 3, 14, 15, 9, 26, 535_897_932, time.UTC)

func (w *world) date() time.Time { return epoch.Add(w.now) }

// at runs f at t, or now if t is past. Events of one moment run in the order they were made.
func (w *world) at(t time.Duration, f func()) {
	w.made++
	heap.Push(&w.events, event{max(t, w.now), w.made, f})
}

func (w *world) after(d time.Duration, f func()) { w.at(w.now+d, f) }

// run plays until nothing is left or the horizon is reached.
func (w *world) run(horizon time.Duration) {
	for len(w.events) > 0 && w.events[0].at <= horizon {
		e := heap.Pop(&w.events).(event)
		w.now = e.at
		e.do()
	}
}

type event struct {
	at   time.Duration
	made int
	do   func()
}

type eventHeap []event

func (h eventHeap) Len() int { return len(h) }
func (h eventHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].made < h[j].made
}
func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *eventHeap) Push(x any)   { *h = append(*h, x.(event)) }
func (h *eventHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

// A network delays each way on its own: a base of 8 to 14 ms that belongs to the route, and a jitter drawn for every message.
type network struct {
	base   time.Duration
	jitter func(*rand.Rand) time.Duration
}

func (n network) delay(r *rand.Rand) time.Duration { return n.base + n.jitter(r) }

// uniform spreads evenly over 0..d; exponential has the mean d and a long tail.
func uniform(d time.Duration) func(*rand.Rand) time.Duration {
	return func(r *rand.Rand) time.Duration { return time.Duration(r.Float64() * float64(d)) }
}

func exponential(d time.Duration) func(*rand.Rand) time.Duration {
	return func(r *rand.Rand) time.Duration { return time.Duration(r.ExpFloat64() * float64(d)) }
}

// logNormal is how long an API works on a call: the median, and a spread of half as much again.
func logNormal(median time.Duration) func(*rand.Rand) time.Duration {
	return func(r *rand.Rand) time.Duration {
		return time.Duration(float64(median) * math.Exp(0.4*r.NormFloat64()))
	}
}
