package bank

import (
	"math"
	"time"
)

// A rate is asked after from time to time, since it may have risen: after a quiet time the pace creeps up until a refusal stops it.
const (
	shortestQuiet = 10 * time.Second // doubles with every refusal …
	steadyQuiet   = 20 * time.Second
	longestQuiet  = time.Minute
	quietCalls    = 300   // … but a refusal in so many calls is cheap enough
	creepSlow     = 0.003 // per second, up to where a refusal is expected
	creepPatience = 60    // seconds, or up to then
	creepFast     = 0.08  // per second, beyond: the limit has risen
	beyond        = 1.02  // of the highest rate that the evidence leaves
	widestShare   = 0.25  // of the time in which a bucket runs empty: the guard takes no more, or a fast rate could not be reached
)

// pacer is the bucket as we believe it to be at the server: what is left in it, at a rate that may change all the time.
type pacer struct {
	credit  float64 // calls that could leave at once when the last call had left
	left    instant // when that was
	applied uint64  // the first call that is not debited
	hit     instant // when the last call left that was turned away
	quiet   time.Duration
}

// empty takes note that nothing was left for a call.
func (p *pacer) empty(at instant, next uint64) {
	if at <= p.hit {
		return // seen before, in an earlier replay
	}
	p.credit, p.left, p.applied = 0, at, next
	if at > p.hit+time.Second {
		p.quiet = min(max(2*p.quiet, shortestQuiet), longestQuiet)
	}
	p.hit = at
}

// creep is the pace to try now, from a safe one; no refusal is expected before the pace is beyond highest.
func (p *pacer) creep(now instant, safe, highest float64) float64 {
	quiet := min(p.quiet, max(seconds(quietCalls/safe), steadyQuiet))
	since := (now - p.hit - quiet).Seconds()
	if since <= 0 {
		return safe
	}
	expected := min(math.Log(max(beyond*highest/safe, 1))/creepSlow, creepPatience)
	return safe * math.Exp(creepSlow*min(since, expected)+creepFast*max(since-expected, 0))
}

// at is when the next call may leave: one guard after there is room for it.
func (p *pacer) at(s *scene, rate, burst float64) instant {
	for k := s.index(p.applied); k < len(s.sends); k++ {
		p.debit(s.sends[k].at, float64(s.sends[k].maybe-s.upTo(k).maybe), rate, burst)
	}
	p.applied = s.next
	if p.credit >= 1 {
		return s.now
	}
	return p.left + seconds((1-p.credit)/rate) + min(s.guard, seconds(widestShare*burst/rate))
}

func (p *pacer) debit(at instant, calls, rate, burst float64) {
	p.credit = min(p.credit+rate*(at-p.left).Seconds(), burst) - calls
	p.left = at
}
