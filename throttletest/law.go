package throttletest

import (
	"math"
	"time"
)

// law is the running state of one Limit. It is pure: time is an argument, it never steps back, and nothing sleeps or locks.
// One law is one way to count; all of them are strict to the unit.
type law interface {
	// wait is how long after now n units would be admitted if nobody else came, zero for at once.
	// It is known only where the law can name that moment.
	wait(now time.Time, n float64) (d time.Duration, known bool)
	// take spends n units and says how long the call is kept in the server's queue before it is served.
	// It never refuses: more than there is becomes debt. The stay ends when the call has left the server.
	take(now time.Time, n float64, s *stay) (queued time.Duration)
	// give returns n units of what a call was charged at that moment and did not use, as far as they still count;
	// a negative n charges more.
	give(now, charged time.Time, n float64)
	// refuse charges a refused call, on servers that do so.
	refuse(now time.Time, n float64)
	// resize changes the limit from now on.
	resize(now time.Time, limit float64)
	// state describes the law at now.
	state(now time.Time) level
}

// debtor is a law that can owe: units were charged that it did not have.
type debtor interface{ debt() float64 }

// level is a law at one moment.
type level struct {
	limit, left float64
	next, full  time.Duration // until something, until everything is back; only if timed
	timed       bool
	window      time.Duration // in which limit units come back; 0 = the limit has none
}

// stay is the time that one admitted call spends at the server. While it is open its end is zero.
type stay struct{ end time.Time }

// over says whether the call has left by now.
func (s *stay) over(now time.Time) bool { return !s.end.IsZero() && !s.end.After(now) }

// crumb is the part of one unit that is forgiven: sums of floats are not exact, and nobody should be refused for the last bit
// of one. A millionth of a unit is 0.2 µs at 5 units per second.
const crumb = 1e-6

// fits says whether used and n together stay within limit.
func fits(used, n, limit float64) bool { return used+n <= limit+crumb }

// seconds is a duration of x seconds, rounded up to the nanosecond so that a wait is never too short.
func seconds(x float64) time.Duration {
	ns := math.Ceil(x * float64(time.Second))
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(ns)
}

// tally is what the laws that count up to a limit share.
type tally struct{ limit, used float64 }

func (t *tally) room() float64                     { return math.Max(0, t.limit-t.used) }
func (t *tally) debt() float64                     { return math.Max(0, t.used-t.limit) }
func (t *tally) give(n float64)                    { t.used = math.Max(0, t.used-n) }
func (t *tally) resize(_ time.Time, limit float64) { t.limit = limit }

// windowStart is when the window of length w that holds now began, for windows that begin phase after the Unix epoch and every w
// from there. It is computed from the wall clock alone, so every moment of one window gives exactly the same start.
func windowStart(now time.Time, w, phase time.Duration) time.Time {
	ns := now.UnixNano()
	into := (ns - int64(phase)) % int64(w)
	if into < 0 {
		into += int64(w)
	}
	return time.Unix(0, ns-into)
}
