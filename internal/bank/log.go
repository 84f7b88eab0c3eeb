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

// heed knows only to a call or two how many the server counts: it opens when the first of them has left the log at the earliest.
func (l *slidingLog) heed(e *evidence, h hint) {
	first := e.sends[min(e.seek(l.early, e.at-l.span-e.guard), e.i)]
	latest := l.at(e.then())
	l.compare(e, h, min(first.at+l.span, latest), latest)
}

func (l *slidingLog) promise(*scene) float64 { return l.rate(l.span) }

// at is when the oldest of the last limit calls has left the log. A dear one that is on trial opens as soon as a refusal would contradict it, and
// the same log with refusals counted.
func (l *slidingLog) at(s *scene) instant {
	if s.caution > 0 && l.ok > 0 && l.dear() {
		return l.opens(s, l.ok, true, 2*s.guard)
	}
	return l.opens(s, s.usable(l.limit()), l.harsh, s.guard)
}

// dear is whether what the log lets pass unused is dear. A short one fills anew soon, and is easily right by chance; of a small one little is lost, and each
// of its calls may be turned away.
func (l *slidingLog) dear() bool { return l.span >= time.Minute && l.ok >= dearCalls }

// dearCalls is from how many on.
const dearCalls = 25

// opens is when fewer calls than a limit are left in the log.
func (l *slidingLog) opens(s *scene, limit float64, harsh bool, guard time.Duration) instant {
	counter := tally{harsh: harsh}
	from := s.now - l.span - guard
	first, n := s.seek(l.early, from), len(s.sends)
	over := counter.count(s.tape, first, n) - limit + 1
	for ; over > 0 && first < n; first++ {
		if gone := counter.count(s.tape, first, first+1); gone > 0 {
			over, from = over-gone, s.sends[first].at
		}
	}
	return from + l.span + guard
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
