package throttletest

import (
	"math"
	"time"
)

// leakyQueue serves calls one after the other at a steady rate. Excess shows as latency first; a call that would find more than
// depth units waiting before it is refused (nginx limit_req with burst, without nodelay).
type leakyQueue struct {
	limit, depth float64
	window       time.Duration
	idle         time.Time // when the queue will be empty
}

func (q *leakyQueue) rate() float64 { return q.limit / q.window.Seconds() }

// ahead is how long a call that comes now waits for its turn.
func (q *leakyQueue) ahead(now time.Time) time.Duration { return max(0, q.idle.Sub(now)) }

func (q *leakyQueue) wait(now time.Time, _ float64) (time.Duration, bool) {
	backlog := q.ahead(now).Seconds() * q.rate()
	if fits(backlog, 0, q.depth) {
		return 0, true
	}
	return seconds((backlog - q.depth) / q.rate()), true
}

func (q *leakyQueue) take(now time.Time, n float64, _ *stay) time.Duration {
	queued := q.ahead(now)
	q.idle = now.Add(queued + seconds(n/q.rate()))
	return queued
}

// give changes nothing: the place in the queue was used.
func (q *leakyQueue) give(_, _ time.Time, _ float64) {}

// refuse changes nothing: a refused call does not stand in the queue.
func (q *leakyQueue) refuse(time.Time, float64) {}

func (q *leakyQueue) resize(now time.Time, limit float64) {
	backlog := q.ahead(now).Seconds() * q.rate()
	q.limit = limit
	q.idle = now.Add(seconds(backlog / q.rate()))
}

func (q *leakyQueue) state(now time.Time) level {
	full := q.ahead(now)
	places := q.depth + 1
	left := math.Max(0, places-full.Seconds()*q.rate())
	s := level{limit: places, left: left, full: full, timed: true, window: seconds(places / q.rate())}
	s.next = min(full, seconds((math.Floor(left+crumb)+1-left)/q.rate()))
	return s
}
