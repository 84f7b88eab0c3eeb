package budget

import "time"

// slidingLog remembers when units were taken, and never lets more than Limit of them into any span of Window. Whoever keeps this law
// is within a fixed window of the same limit too, wherever its edges are, and within a token bucket that holds Limit.
//
// Law: n may leave when, together with what was taken since Window ago, it is at most Limit. Seen from the newest entry back, there is one
// whose units do not fit beside n any more: At is Window after it. So nothing has to expire: the log needs the newest entries
// that add up to Limit, and At is known from them, also when it is past. (The log that Mahdi, "An alternative
// approach to rate limiting", Figma, 2017, begins with and finds too large; here its size is bounded, see below.)
//
// Guarantee: at most Limit in any span of Window (half open: what was taken at t no longer counts at t+Window). A caller who always
// waits gets Limit in each Window after his first call.
//
// Memory is bounded: up to maxEntries the log is exact. Beyond, entries within the same Window/slots are merged into the latest
// of them, so that units leave the log late by at most that much, never early.
type slidingLog struct {
	p      Policy
	origin time.Time // what the times of entries are counted from
	ring   []entry   // the length is a power of two
	head   int       // where the oldest entry is
	count  int       // how many there are
	total  sum       // of their units
}

type entry struct {
	at time.Duration // after origin
	n  float64
}

const (
	// slots is how finely a window is divided when entries are merged: it costs at most 0.2 % of the window.
	slots = 512
	// maxEntries is the largest size of the ring, 16 KiB. Merging leaves at most slots+2 entries, so it is due again after some 500
	// calls at the earliest and costs little per call.
	maxEntries = 1024
	// minEntries is the first size of the ring.
	minEntries = 8
)

func newSlidingLog(p Policy) *slidingLog { return &slidingLog{p: p} }

func (l *slidingLog) policy() Policy { return l.p }

func (l *slidingLog) entry(i int) *entry { return &l.ring[(l.head+i)&(len(l.ring)-1)] }

func (l *slidingLog) Wait(now time.Time, n float64) (time.Duration, bool) {
	at, ever := l.At(now, n)
	return waitUntil(at, ever, now)
}

func (l *slidingLog) At(_ time.Time, n float64) (time.Time, bool) {
	room := l.p.Limit*slack - n
	if !(room >= 0) {
		return time.Time{}, false
	}
	over := l.total
	over.add(-room)
	if n <= 0 || over.value() <= 0 {
		return time.Time{}, true
	}
	i := 0
	for over.add(-l.entry(i).n); over.value() > 0 && i < l.count-1; over.add(-l.entry(i).n) {
		i++
	}
	return l.origin.Add(l.entry(i).at).Add(l.p.Window), true
}

func (l *slidingLog) Take(now time.Time, n float64) {
	if !(n > 0) {
		return
	}
	t := l.moment(now)
	l.push(t, bounded(n))
	l.forget(t)
}

// moment is now as the time of an entry, for an entry to be added. A log whose entries have all been past for most of the 292 years
// that a Duration counts starts anew.
func (l *slidingLog) moment(now time.Time) time.Duration {
	const horizon = 146 * 365 * day
	t := l.seen(now)
	if l.count == 0 || t > horizon && !l.live(l.entry(l.count-1), t) {
		l.origin, l.head, l.count, l.total = now, 0, 0, sum{}
		return 0
	}
	return t
}

// seen is now as the time of an entry, but not before the newest one.
func (l *slidingLog) seen(now time.Time) time.Duration {
	t := now.Sub(l.origin)
	if l.count > 0 {
		t = max(t, l.entry(l.count-1).at)
	}
	return t
}

func (l *slidingLog) push(t time.Duration, n float64) {
	l.total.add(n)
	if l.count > 0 {
		if newest := l.entry(l.count - 1); newest.at == t {
			newest.n += n
			return
		}
	}
	if l.count == len(l.ring) {
		l.makeRoom(t)
	}
	l.count++
	*l.entry(l.count - 1) = entry{t, n}
}

// forget drops the oldest entries that are past and not needed for the newest Limit units.
func (l *slidingLog) forget(t time.Duration) {
	for l.count > 1 {
		oldest := l.entry(0)
		if l.live(oldest, t) || l.total.value()-oldest.n < l.p.Limit {
			return
		}
		l.total.add(-oldest.n)
		l.head = (l.head + 1) & (len(l.ring) - 1)
		l.count--
	}
}

// live says whether an entry still counts at t.
func (l *slidingLog) live(e *entry, t time.Duration) bool { return e.at > t-l.p.Window }

// makeRoom doubles the ring, or merges entries when it is as large as it may be.
func (l *slidingLog) makeRoom(t time.Duration) {
	old := *l
	if len(l.ring) < maxEntries {
		l.ring = make([]entry, max(minEntries, 2*len(l.ring)))
		l.head = 0
		for i := range l.count {
			l.ring[i] = *old.entry(i)
		}
		return
	}
	l.count = 0
	for i := range old.count {
		l.merge(*old.entry(i), t)
	}
}

// merge appends an entry, or adds it to the newest one if both are past or in the same slot.
func (l *slidingLog) merge(e entry, t time.Duration) {
	if l.count > 0 {
		if newest := l.entry(l.count - 1); l.slot(newest, t) == l.slot(&e, t) {
			newest.at = e.at
			newest.n += e.n
			return
		}
	}
	l.count++
	*l.entry(l.count - 1) = e
}

// slot numbers the parts of the time line that are merged into one entry. All that is past is one part.
func (l *slidingLog) slot(e *entry, t time.Duration) time.Duration {
	if !l.live(e, t) {
		return -1
	}
	return e.at / (l.p.Window/slots + 1)
}

// Give takes the units off the oldest entries that still count: whichever units are meant, none is then counted as older than it is.
func (l *slidingLog) Give(now time.Time, n float64) {
	if n < 0 {
		l.Take(now, -n)
		return
	}
	t := l.seen(now)
	for i := 0; i < l.count && n > 0; i++ {
		if e := l.entry(i); l.live(e, t) {
			n -= l.uncount(e, n)
		}
	}
}

// giveBack takes the units off the entry that they were recorded in, as long as it counts. What is not there, an earlier Give took
// from other entries.
func (l *slidingLog) giveBack(taken, now time.Time, n float64) {
	if !now.Before(taken.Add(l.p.Window)) {
		return
	}
	at := taken.Sub(l.origin)
	for i := range l.count {
		if e := l.entry(i); e.at >= at {
			n -= l.uncount(e, n)
			break
		}
	}
	l.Give(now, max(0, n))
}

// uncount takes up to n units off an entry and says how many those were.
func (l *slidingLog) uncount(e *entry, n float64) float64 {
	off := min(n, e.n)
	e.n -= off
	l.total.add(-off)
	return off
}

func (l *slidingLog) State(now time.Time) State {
	var used sum
	for _, s := range l.spent(now) {
		used.add(s.n)
	}
	return stateOf(l, now, l.p.Limit, used.value(), l.p.Limit-used.value())
}

func (l *slidingLog) spent(now time.Time) []spend {
	var all []spend
	t := l.seen(now)
	for i := range l.count {
		if e := l.entry(i); l.live(e, t) && e.n > 0 {
			all = append(all, spend{l.origin.Add(e.at), e.n})
		}
	}
	return all
}
