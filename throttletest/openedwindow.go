package throttletest

import "time"

// openedWindow counts calls in windows that a call opens: the first one after the last window has ended.
type openedWindow struct {
	tally
	window time.Duration
	end    time.Time // zero while no window is open
}

func (w *openedWindow) roll(now time.Time) {
	if !w.end.IsZero() && !now.Before(w.end) {
		w.end, w.used = time.Time{}, 0
	}
}

func (w *openedWindow) left(now time.Time) time.Duration {
	if w.end.IsZero() {
		return 0
	}
	return w.end.Sub(now)
}

func (w *openedWindow) wait(now time.Time, n float64) (time.Duration, bool) {
	w.roll(now)
	if fits(w.used, n, w.limit) {
		return 0, true
	}
	return w.left(now), fits(0, n, w.limit)
}

func (w *openedWindow) take(now time.Time, n float64, _ *stay) time.Duration {
	w.roll(now)
	if w.end.IsZero() {
		w.end = now.Add(w.window)
	}
	w.used += n
	return 0
}

// give knows the units of the open window only. What a call costs more after its window has ended opens one.
func (w *openedWindow) give(now, charged time.Time, n float64) {
	w.roll(now)
	switch {
	case n < 0:
		w.take(now, -n, nil)
	case !w.end.IsZero() && w.end.Sub(charged) <= w.window:
		w.tally.give(n)
	}
}

// refuse opens a window too, if there is none: a call larger than the limit is a call.
func (w *openedWindow) refuse(now time.Time, n float64) { w.take(now, n, nil) }

func (w *openedWindow) state(now time.Time) level {
	w.roll(now)
	return level{limit: w.limit, left: w.room(), next: w.left(now), full: w.left(now), timed: true, window: w.window}
}
