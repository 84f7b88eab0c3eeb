package budget

import "time"

// fixedWindow counts afresh in each window of the clock, as servers do that keep one counter with an expiry.
//
// Law: n may leave when the count of the current window leaves room for n. Windows begin at Anchor and every Window after it (before it
// too), by default at the full minute, hour or day of UTC.
//
// Guarantee: at most Limit in each such window, and hence at most 2·Limit in any span of Window around an edge. A caller
// who always waits uses all of it. Debt above Limit is forgotten at the edge, as the server forgets it.
//
// At is the end of the window while it has no room. After the edge it is that edge, as long as the window before had no room, else
// no moment is known.
type fixedWindow struct {
	p     Policy
	frame frame
}

func newFixedWindow(p Policy) *fixedWindow {
	return &fixedWindow{p: p, frame: newFrame(p.Window, p.Anchor)}
}

func (w *fixedWindow) policy() Policy { return w.p }

func (w *fixedWindow) Wait(now time.Time, n float64) (time.Duration, bool) {
	at, ever := w.At(now, n)
	return waitUntil(at, ever, now)
}

func (w *fixedWindow) At(_ time.Time, n float64) (time.Time, bool) {
	room := w.p.Limit*slack - n
	switch {
	case !(room >= 0):
		return time.Time{}, false
	case n <= 0:
		return time.Time{}, true
	case w.frame.cur.value() > room:
		return w.frame.end(), true
	case w.frame.prev > room:
		return w.frame.start, true
	}
	return time.Time{}, true
}

func (w *fixedWindow) Take(now time.Time, n float64) {
	if n > 0 {
		w.frame.take(now, n)
	}
}

func (w *fixedWindow) Give(now time.Time, n float64) {
	if n < 0 {
		w.frame.take(now, -n)
		return
	}
	w.frame.roll(now)
	w.frame.give(bounded(n))
}

// giveBack gives nothing for units of an earlier window: they are no longer counted.
func (w *fixedWindow) giveBack(taken, now time.Time, n float64) {
	w.frame.roll(now)
	if !taken.Before(w.frame.start) {
		w.frame.give(bounded(n))
	}
}

func (w *fixedWindow) State(now time.Time) State {
	f := w.frame
	f.roll(now)
	used := f.cur.value()
	return stateOf(w, now, w.p.Limit, used, w.p.Limit-used)
}

func (w *fixedWindow) spent(now time.Time) []spend {
	f := w.frame
	return f.spent(now)
}
