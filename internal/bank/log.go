package bank

import "time"

// slidingLog is a law that counts calls in the last span, whenever that began. It holds for a window of unknown phase too, and for
// one that opens with its first call: no such window ever holds more than the busiest span.
type slidingLog struct {
	tally
	span time.Duration
}

var _ law = (*slidingLog)(nil)

func newSlidingLog(span time.Duration, harsh bool) *slidingLog {
	return &slidingLog{tally: tally{verdict: unjudged(), harsh: harsh}, span: span}
}

func (l *slidingLog) judge(e *evidence) {
	from := e.at - l.span
	l.weigh(e, from-e.guard, from+e.guard)
}

func (l *slidingLog) heed(e *evidence, h hint) { l.compare(e, h, l.at(e.then())) }

func (l *slidingLog) promise(*scene) float64 { return l.rate(l.span) }

// at is when the oldest of the last limit calls has left the log.
func (l *slidingLog) at(s *scene) instant {
	from := s.now - l.span - s.guard
	first, n := s.seek(l.early, from), len(s.sends)
	over := l.count(s.tape, first, n) - s.usable(l.limit()) + 1
	for ; over > 0 && first < n; first++ {
		if gone := l.count(s.tape, first, first+1); gone > 0 {
			over, from = over-gone, s.sends[first].at
		}
	}
	return from + l.span + s.guard
}

func (l *slidingLog) asking(s *scene) bool {
	return l.count(s.tape, s.seek(l.early, s.now-l.span-s.guard), len(s.sends)) >= nearLimit*l.limit()
}

func (l *slidingLog) state() State {
	kind := SlidingLog
	if l.harsh {
		kind = HarshLog
	}
	return State{Kind: kind, Limit: l.limit(), Window: l.span}
}
