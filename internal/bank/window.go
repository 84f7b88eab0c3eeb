package bank

import "time"

// clockWindow is a law that counts calls in windows that follow each other without a gap: full minutes by the clock, say.
type clockWindow struct {
	tally
	span  time.Duration
	phase time.Duration // an edge of the windows
}

var _ law = (*clockWindow)(nil)

func newClockWindow(span, phase time.Duration) *clockWindow {
	return &clockWindow{tally: tally{verdict: unjudged()}, span: span, phase: phase % span}
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
	w.weigh(e, w.opening(e.at-e.guard)-lag(e.guard), w.opening(e.at+lag(e.guard))+e.guard)
}

func (w *clockWindow) promise(*scene) float64 { return w.rate(w.span) }

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
	return w.count(s.tape, s.seek(w.early, open-lag(s.guard)), len(s.sends))
}

func (w *clockWindow) state() State {
	return State{Kind: ClockWindow, Limit: w.limit(), Window: w.span}
}
