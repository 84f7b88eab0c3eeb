package mirror

import (
	"math"
	"time"
)

// late is what is known of a server that counts what calls use only when they end, as some do with the tokens of an answer. What the calls under
// way will use is then in no Remaining. Its supply is what own calls have used, and Remaining beside that. The zero value is a server that counts
// calls on arrival.
type late struct {
	yes  bool
	used history // by own calls that have ended
	left float64 // by the answer whose call left last
	sent moment

	allow allowance // of what a cap leaves us

	rate float64 // units a second that it gets back at least
	// A height that the supply did not exceed when a call left. What it has risen since shows the rate.
	high   float64
	highAt moment
}

// lateMemory is how long a height is compared with: a bucket may have run over since, which hides a part of what it got back.
const lateMemory = time.Minute

// notice looks whether an answer leaves more than half of its call's cost uncounted, whatever the server may round.
func (l *late) notice(r *reading) {
	l.yes = l.yes || r.limit > 0 && !r.refused && r.cost > 1 && r.left-max(r.slack, roundness(r.left, r.limit)) > r.limit-r.cost/2
}

const (
	// roundMost is the coarsest that numbers are rounded to: Anthropic tells what is left of a million in thousands.
	roundMost = 1000
	// roundPart is the part of a limit that its numbers are rounded to at most.
	roundPart = 0.05
)

// roundness is the greatest power of ten that two numbers may both have been rounded to; zero if they have not.
func roundness(a, b float64) float64 {
	for step := float64(roundMost); step > 1; step /= 10 {
		if step <= roundPart*b && math.Mod(a, step) == 0 && math.Mod(b, step) == 0 {
			return step
		}
	}
	return 0
}

// hear takes in what an answer leaves. Calls that end within the guard of its sending may have been counted or not.
func (l *late) hear(r *reading, guard moment) {
	if !l.yes || r.sent < l.sent {
		return
	}
	if r.left < 1 { // perhaps in debt, which no answer tells
		l.left, l.sent = min(r.left, l.at(r.sent)), r.sent
	} else {
		l.left, l.sent = r.left, r.sent
		l.steepen(r, guard)
	}
	if full := r.left+r.slack+1 > r.limit; full || l.high == 0 || r.sent-l.highAt > lateMemory {
		l.high, l.highAt = l.used.within(r.sent+guard)+r.left+r.slack, r.sent
	}
}

// steepen raises the rate to what an answer shows it to be at least.
func (l *late) steepen(r *reading, guard moment) {
	if l.high > 0 {
		rise := l.used.upTo(r.sent-guard) + r.left - r.slack - l.high
		l.rate = max(l.rate, rise/secs(r.sent-l.highAt+guard))
	}
}

// at is what was left at t, if nobody else draws.
func (l *late) at(t moment) float64 {
	return l.left + l.rate*secs(t-l.sent) - (l.used.upTo(t) - l.used.upTo(l.sent))
}

// resize follows a limit that became by times as high.
func (l *late) resize(by float64) { l.rate, l.high = l.rate*min(1, by), 0 }

// Late says whether the server counts what calls use only when they end: one has been answered by Remaining with more than half of its cost left
// uncounted.
func (m *Mirror) Late() bool { return m.late.yes }

// Use counts what an own call has used that ends now.
func (m *Mirror) Use(now time.Time, n float64) {
	m.allowLate(m.since(now))
	m.late.used.keep = max(m.ends.keep, lateMemory)
	m.late.used.add(m.since(now), n)
	m.late.allow.level -= n
}

// Stock is what a server has of a bucket that it charges when calls end.
type Stock struct {
	Left float64 // below zero it is in debt
	Rate float64 // units that surely come back, per second; zero while none have been seen to
	Most float64 // units that it holds at most
}

// stockAsk is how long it takes at the most, in seconds, until units are taken to have come back: others may have to wait for them, but not forever.
const stockAsk = 3600

// After is how long it takes until so many units more have come back; an hour if that is not known.
func (s Stock) After(units float64) time.Duration { return seconds(min(units/s.Rate, stockAsk)) }

// allowLate is the part of the rate that a cap leaves us, after bringing what it has left us up to t.
func (m *Mirror) allowLate(t moment) (rate float64) {
	l := &m.late
	rate = l.rate * m.most() / m.limit
	l.allow.flow(t, l.used.total, rate, m.most())
	return rate
}

// Stock is what we may have of a quota that the server charges when calls end. It is not known of a window, which gets everything back at once.
func (m *Mirror) Stock(now time.Time) (s Stock, known bool) {
	l := &m.late
	if !l.yes || m.law == windowLaw || m.law == logLaw || m.limit <= 0 {
		return s, false
	}
	t := m.since(now)
	s.Most, s.Rate = m.most(), m.allowLate(t)
	left := min(l.at(t), m.limit)
	if s.Most < m.limit {
		left = min(left-(m.limit-s.Most), l.allow.level)
	}
	s.Left = left
	return s, true
}

// LateBucket says whether the server is known to count calls when they end, and to get units back steadily.
func (m *Mirror) LateBucket() bool { return m.late.yes && m.law == bucketLaw }
