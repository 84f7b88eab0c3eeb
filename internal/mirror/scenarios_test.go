package mirror

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/seed-18ca0a92/throttle/headers"
)

// The servers that the scenarios are played against: a quota of 600 a minute unless said otherwise, in any phase.
const (
	quota  = 600
	minute = time.Minute
)

// offStep is as much work as fills three windows and a half: one slot lost does not cost a whole window, nor hide behind one.
const offStep = 4*quota - quota/2

func fixed(limit float64, d time.Duration) func(*world) server {
	return func(w *world) server {
		return &fixedWindow{limit: limit, length: d, phase: time.Duration(w.rng.Float64() * float64(d))}
	}
}

func byFirst(limit float64, d time.Duration) func(*world) server {
	return func(*world) server { return &fixedWindow{limit: limit, length: d, byFirst: true} }
}

func sliding(limit float64, d time.Duration) func(*world) server {
	return func(*world) server { return &logServer{limit: limit, length: d} }
}

func counter(limit float64, d time.Duration) func(*world) server {
	return func(w *world) server {
		return &slidingCounter{limit: limit, length: d, phase: time.Duration(w.rng.Float64() * float64(d))}
	}
}

// smallBurst refills the limit in d, and holds a sixth of it.
func smallBurst(limit float64, d time.Duration) func(*world) server {
	return tokens(limit/d.Seconds(), limit/6)
}

func tokens(rate, burst float64) func(*world) server {
	return func(*world) server { return newBucket(rate, burst) }
}

// forms are the ways in which one quota is told.
var forms = map[string]form{
	"up":          wholeSeconds(math.Ceil),
	"down":        wholeSeconds(math.Floor),
	"nearest":     wholeSeconds(math.Round),
	"exact":       millis,
	"epoch":       wholeEpoch(-3*time.Minute-300*time.Millisecond, math.Ceil),
	"epoch, down": wholeEpoch(4*time.Minute+700*time.Millisecond, math.Floor),
	"now, then":   sometimes(wholeSeconds(math.Ceil)),
}

// edited is a form after something was done to what it says.
func edited(f form, edit func(q *headers.Quota)) form {
	return func(v verdict, t time.Duration, r *rand.Rand) headers.Quota {
		q := f(v, t, r)
		edit(&q)
		return q
	}
}

func withoutReset(f form) form {
	return edited(f, func(q *headers.Quota) { q.Reset = headers.Maybe[time.Duration]{} })
}

func withoutRemaining(f form) form {
	return edited(f, func(q *headers.Quota) { q.Remaining = headers.Maybe[float64]{} })
}

func onlyRemaining(f form) form {
	return edited(f, func(q *headers.Quota) {
		q.Limit, q.Reset = headers.Maybe[float64]{}, headers.Maybe[time.Duration]{}
	})
}

// rounded tells Remaining to the nearest multiple of step.
func rounded(f form, step float64) form {
	return edited(f, func(q *headers.Quota) { q.Remaining.Value = math.Round(q.Remaining.Value/step) * step })
}

// frozen tells the same Remaining for a while before it looks again.
func frozen(f form, d time.Duration) form {
	var since time.Duration
	var left headers.Maybe[float64]
	return func(v verdict, t time.Duration, r *rand.Rand) headers.Quota {
		q := f(v, t, r)
		if t-since > d || t < since {
			since, left = t, q.Remaining
		}
		q.Remaining = left
		return q
	}
}

// job is one process's work.
func job(calls, workers int, jitter func(*rand.Rand) time.Duration, tell form, serve func(*world) server) scenario {
	return scenario{calls: calls, workers: workers, jitter: jitter, service: 120 * time.Millisecond, tell: tell, serve: serve}
}

// shared is a quarter of an hour in which processes with eight workers each want all they can get.
func shared(processes int, foreign float64, jitter func(*rand.Rand) time.Duration, serve func(*world) server) scenario {
	s := job(math.MaxInt32, 8, jitter, forms["up"], serve)
	s.processes, s.foreign, s.horizon, s.capacity = processes, foreign, 870*time.Second, capacity
	return s
}

// capacity is what a server has to give in whole windows between two moments.
func capacity(s server, from, to time.Duration) (units float64, start, end time.Duration) {
	if b, ok := s.(*tokenBucket); ok {
		return b.burst + b.rate*(to-from).Seconds(), from, to
	}
	w := s.(*fixedWindow)
	first := w.phase + ((from-w.phase)/w.length+1)*w.length
	n := (to - first) / w.length
	return w.limit * float64(n), first, first + n*w.length
}

// before spends units of the server's quota ahead of the job: somebody else's, or those of a process that was restarted.
func before(ask func(w *world, up *upstream)) func(*world, *upstream, []*process) {
	return func(w *world, up *upstream, _ []*process) { ask(w, up) }
}

// changed sets another limit in mid-run.
func changed(limit float64) func(*world, *upstream, []*process) {
	return func(w *world, up *upstream, _ []*process) {
		w.after(30*time.Second, func() { up.change(w.now, limit) })
	}
}

// slowed lets a bucket of the same burst refill ten times more slowly from mid-run on.
func slowed(w *world, up *upstream, _ []*process) {
	b := up.server.(*tokenBucket)
	w.after(20*time.Second, func() {
		b.refill(w.now)
		b.rate /= 10
	})
}
