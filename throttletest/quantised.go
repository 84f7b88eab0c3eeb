package throttletest

import "time"

// quantised announces one limit and enforces it in smaller steps: 600 per minute as 10 in every second. What it announces is the
// count of the whole window, which is why its Remaining promises what the step refuses.
type quantised struct {
	step, whole fixedWindow
}

func (q *quantised) wait(now time.Time, n float64) (time.Duration, bool) {
	d, ever := q.step.wait(now, n)
	whole, _ := q.whole.wait(now, n)
	return max(d, whole), ever
}

func (q *quantised) take(now time.Time, n float64, s *stay) time.Duration {
	q.step.take(now, n, s)
	return q.whole.take(now, n, s)
}

func (q *quantised) give(now, charged time.Time, n float64) {
	q.step.give(now, charged, n)
	q.whole.give(now, charged, n)
}

func (q *quantised) refuse(now time.Time, n float64) {
	q.step.refuse(now, n)
	q.whole.refuse(now, n)
}

func (q *quantised) resize(now time.Time, limit float64) {
	q.step.resize(now, limit*float64(q.step.window)/float64(q.whole.window))
	q.whole.resize(now, limit)
}

func (q *quantised) state(now time.Time) level { return q.whole.state(now) }
