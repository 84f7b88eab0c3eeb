package throttletest

import (
	"math"
	"time"
)

// slidingLog remembers every call for the length of the window: at no moment does the span behind it hold more than the limit.
// A call counts for the half-open span [at, at+window).
type slidingLog struct {
	tally
	window  time.Duration
	entries []entry // oldest first
}

type entry struct {
	at time.Time
	n  float64
}

func (l *slidingLog) prune(now time.Time) {
	old := 0
	for old < len(l.entries) && now.Sub(l.entries[old].at) >= l.window {
		l.used -= l.entries[old].n
		old++
	}
	if old == len(l.entries) {
		l.used = 0 // no float error outlives an empty log
	}
	l.entries = l.entries[old:]
}

func (l *slidingLog) wait(now time.Time, n float64) (time.Duration, bool) {
	l.prune(now)
	used := l.used
	if fits(used, n, l.limit) {
		return 0, true
	}
	for _, e := range l.entries {
		if used -= e.n; fits(used, n, l.limit) {
			return e.at.Add(l.window).Sub(now), true
		}
	}
	return 0, false
}

func (l *slidingLog) take(now time.Time, n float64, _ *stay) time.Duration {
	l.refuse(now, n)
	return 0
}

// refuse writes a refused call into the log like any other.
func (l *slidingLog) refuse(now time.Time, n float64) {
	l.prune(now)
	l.entries = append(l.entries, entry{now, n})
	l.used += n
}

// give corrects the entry of the call; what it costs more is an entry of its own.
func (l *slidingLog) give(now, charged time.Time, n float64) {
	if n < 0 {
		l.refuse(now, -n)
		return
	}
	l.prune(now)
	for i := range l.entries {
		if e := &l.entries[i]; e.at.Equal(charged) {
			part := math.Min(n, e.n)
			e.n -= part
			l.used -= part
			n -= part
		}
	}
}

func (l *slidingLog) state(now time.Time) level {
	l.prune(now)
	s := level{limit: l.limit, left: l.room(), timed: true, window: l.window}
	if k := len(l.entries); k > 0 {
		s.next = l.entries[0].at.Add(l.window).Sub(now)
		s.full = l.entries[k-1].at.Add(l.window).Sub(now)
	}
	return s
}
