package bank

import "time"

// Windows by the clock, and spans of a log, that servers are known to count in. Each further one costs a refusal per unknown key.
func clockSpans() []time.Duration {
	return []time.Duration{time.Second, 10 * time.Second, time.Minute, time.Hour, 24 * time.Hour}
}

func logSpans() []time.Duration {
	return []time.Duration{time.Second, 10 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 24 * time.Hour}
}

// seldomSpans are not worth a refusal of every server, but of one that names a wait as short.
func seldomSpans() []time.Duration { return []time.Duration{2 * time.Second, 5 * time.Second} }

// learn makes the laws, at the first refusal.
func (b *Bank) learn() {
	if b.laws != nil {
		return
	}
	add := func(l law) { b.laws = append(b.laws, &belief{law: l}) }
	add(newFlight())
	for _, span := range clockSpans() {
		add(newClockWindow(span, 0))
	}
	for _, harsh := range []bool{false, true} {
		for _, span := range logSpans() {
			add(newSlidingLog(span, harsh))
		}
	}
	add(newLeak())
	b.leak = b.laws[len(b.laws)-1]
	b.tape.judged = max(len(b.tape.sends)-replayed, 0)
	b.since = b.tape.id(b.tape.judged)
}
