package budget

import "time"

// frame is a window of time aligned to the clock, with what was counted in it and in the window just before.
type frame struct {
	length time.Duration
	phase  time.Duration // where windows begin, after the multiples of length since the zero Time
	start  time.Time     // when the current window began; zero before the first count
	prev   float64       // counted in the window before
	cur    sum           // counted in the current one
}

func newFrame(length time.Duration, anchor time.Time) frame {
	if anchor.IsZero() {
		anchor = time.Unix(0, 0)
	}
	return frame{length: length, phase: anchor.Sub(anchor.Truncate(length))}
}

// end is when the current window ends.
func (f *frame) end() time.Time { return f.start.Add(f.length) }

// begin is the start of the window that t lies in, by the wall clock. It keeps the monotonic reading of t, so that the length of
// the window is measured by the monotonic clock.
func (f *frame) begin(t time.Time) time.Time {
	wall := t.Round(0)
	edge := wall.Add(-f.phase).Truncate(f.length).Add(f.phase)
	return t.Add(-wall.Sub(edge))
}

// roll moves on to the window that now lies in. A moment before the current window counts as one within.
func (f *frame) roll(now time.Time) {
	switch {
	case f.start.IsZero():
		f.start = f.begin(now)
	case now.Sub(f.start) >= f.length:
		f.next(f.begin(now))
	}
}

// next begins the window that starts at start. Three cases: it follows the current one, or comes later, or the wall clock was set
// back and it is the current one once more; half a window is what rounding and clock steps may differ by.
func (f *frame) next(start time.Time) {
	gap := start.Sub(f.start)
	f.start = start
	if gap < f.length/2 {
		return
	}
	f.prev = 0
	if gap < f.length+f.length/2 {
		f.prev = f.cur.value()
	}
	f.cur = sum{}
}

// take counts n units at now.
func (f *frame) take(now time.Time, n float64) {
	f.roll(now)
	f.cur.add(bounded(n))
}

// give uncounts up to n units of the current window, and says how many are left of n.
func (f *frame) give(n float64) float64 {
	off := min(n, f.cur.value())
	f.cur.add(-off)
	return n - off
}

// spent lists what was counted, each window's units as late as they can have been taken.
func (f *frame) spent(now time.Time) []spend {
	f.roll(now)
	var all []spend
	if f.prev > 0 {
		all = append(all, spend{f.start.Add(-1), f.prev})
	}
	if n := f.cur.value(); n > 0 {
		all = append(all, spend{later(now, f.start), n})
	}
	return all
}
