package throttletest

import "time"

// fixedWindow counts calls in windows that follow the clock: at every edge the count is zero again.
type fixedWindow struct {
	tally
	window, phase time.Duration
	start         time.Time
}

func (w *fixedWindow) roll(now time.Time) {
	if start := windowStart(now, w.window, w.phase); start.After(w.start) {
		w.start, w.used = start, 0
	}
}

func (w *fixedWindow) left(now time.Time) time.Duration { return w.start.Add(w.window).Sub(now) }

func (w *fixedWindow) wait(now time.Time, n float64) (time.Duration, bool) {
	w.roll(now)
	if fits(w.used, n, w.limit) {
		return 0, true
	}
	return w.left(now), fits(0, n, w.limit)
}

func (w *fixedWindow) take(now time.Time, n float64, _ *stay) time.Duration {
	w.roll(now)
	w.used += n
	return 0
}

func (w *fixedWindow) refuse(now time.Time, n float64) { w.take(now, n, nil) }

// give knows the units of the current window only; those of an older one are gone with it.
func (w *fixedWindow) give(now, charged time.Time, n float64) {
	w.roll(now)
	if n < 0 || !charged.Before(w.start) {
		w.tally.give(n)
	}
}

func (w *fixedWindow) state(now time.Time) level {
	w.roll(now)
	return level{limit: w.limit, left: w.room(), next: w.left(now), full: w.left(now), timed: true, window: w.window}
}
