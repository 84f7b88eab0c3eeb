package bank

import "time"

// clockWindow is a law that counts calls in windows that follow each other without a gap: full minutes by the clock, say.
type clockWindow struct {
	tally
	span  time.Duration
	phase time.Duration // an edge of the windows, or the latest moment at which it may be
	slack time.Duration // how much earlier it may be
	named bool          // the server named the edge
}

var _ law = (*clockWindow)(nil)

func newClockWindow(span, phase time.Duration) *clockWindow {
	return &clockWindow{tally: tally{verdict: unjudged()}, span: span, phase: phase % span}
}

// newNamedWindow is a window with an edge where the server said that it would let calls in again.
func newNamedWindow(span time.Duration, h hint) *clockWindow {
	w := newClockWindow(span, h.to)
	w.slack, w.named = h.to-h.from, true
	return w
}

// opening is the edge at or before x.
func (w *clockWindow) opening(x instant) instant {
	since := (x - w.phase) % w.span
	if since < 0 {
		since += w.span
	}
	return x - since
}

// lag is how long before an edge a call may leave and still arrive after it. The guard is at least a third of a round trip, so
// two of them cover the way and its jitter.
func lag(guard time.Duration) time.Duration { return 2 * guard }

func (w *clockWindow) judge(e *evidence) {
	w.weigh(e, w.opening(e.at-e.guard)-w.slack-lag(e.guard), w.opening(e.at+w.slack+lag(e.guard))+e.guard)
}

// heed compares the next edge with the server's own words, and learns from them where it is if it was named by them.
func (w *clockWindow) heed(e *evidence, h hint) {
	if h.rough {
		edge := w.opening(e.at) + w.span
		w.compare(e, h, edge, edge)
		return
	}
	edge := w.opening(h.to + w.span/2) // the one nearest to the latest moment named
	if earlier := edge - w.span; edge-w.slack > h.to && earlier >= h.from {
		edge = earlier // a second, or less, that was told in whole seconds holds more than one edge
	}
	w.compare(e, hint{from: h.from, to: h.to + w.slack}, edge, edge)
	w.denied = w.denied || h.from > e.at+w.span+2*e.guard // the next edge is nearer
	if w.named && !w.denied {
		latest := min(edge, h.to)
		w.slack = max(latest-max(edge-w.slack, h.from), 0)
		w.phase = latest
	}
}

// hearsay is what a window promises less whose edge was named: it may be a log's, which a call more would show up.
const hearsay = 0.99

func (w *clockWindow) promise(*scene) float64 {
	if w.named {
		return hearsay * w.rate(w.span)
	}
	return w.rate(w.span)
}

func (w *clockWindow) at(s *scene) instant {
	open := w.opening(s.now - s.guard)
	if w.used(s, open) < s.usable(w.limit()) {
		return s.now
	}
	return open + w.span + s.guard
}

func (w *clockWindow) asking(s *scene) bool {
	return w.used(s, w.opening(s.now-s.guard)) >= nearLimit*w.limit()
}

func (w *clockWindow) used(s *scene, open instant) float64 {
	return w.count(s.tape, s.seek(w.early, open-w.slack-lag(s.guard)), len(s.sends))
}

func (w *clockWindow) state() State {
	return State{Kind: ClockWindow, Limit: w.limit(), Window: w.span}
}
