package mirror

import "time"

// A history remembers a running total over time, so that "how much was it then" can be asked. It holds at most 512 marks; when
// they do not reach back as far as is asked for, amounts close to each other share one. The zero value is empty and exact.
type history struct {
	keep  moment // how far back totals are asked for
	total float64

	marks  []mark // a ring whose length is a power of two
	head   int    // index of the oldest
	n      int
	before float64 // the total before the oldest mark
	grain  moment  // amounts that come within it share a mark
	begun  moment  // when the newest mark was begun
}

// A mark says that the total had become this much at this moment.
type mark struct {
	at    moment
	total float64
}

const (
	// marksMost bounds the marks of one history to 8 KB: enough that 512 calls in the air have one each.
	marksMost = 512
	// marksFirst is what a history starts with; idle keys stay small.
	marksFirst = 16
	// grainFirst is the least time that marks are merged over: far below any network's jitter.
	grainFirst = 250 * time.Microsecond
)

// add counts n more at t. Moments must not run backwards; one that does counts as the latest.
func (h *history) add(t moment, n float64) {
	h.total += n
	if h.n > 0 {
		newest := h.at(h.n - 1)
		t = max(t, newest.at)
		if t == newest.at || t-h.begun < h.grain {
			newest.at, newest.total = t, h.total
			return
		}
	}
	h.makeRoom(t)
	*h.at(h.n) = mark{t, h.total}
	h.n++
	h.begun = t
}

// makeRoom finds place for one more mark: in the ring, in a greater ring, where a mark is too old to be asked for, or between
// marks that come close to each other.
func (h *history) makeRoom(now moment) {
	switch {
	case h.n < len(h.marks):
	case h.n < marksMost:
		h.grow()
	case h.at(0).at < now-h.keep:
		h.before = h.at(0).total
		h.head = (h.head + 1) & (marksMost - 1)
		h.n--
	default:
		h.coarsen()
	}
}

func (h *history) grow() {
	grown := make([]mark, max(marksFirst, 2*h.n))
	for i := range h.n {
		grown[i] = *h.at(i)
	}
	h.marks, h.head = grown, 0
}

// coarsen merges marks until at least a quarter of the ring is free.
func (h *history) coarsen() {
	for h.n > marksMost*3/4 {
		h.grain = max(2*h.grain, grainFirst)
		h.merge()
	}
}

func (h *history) merge() {
	kept, begun := 0, h.at(0).at
	for i := 1; i < h.n; i++ {
		next := *h.at(i)
		if next.at-begun >= h.grain {
			kept++
			begun = next.at
		}
		*h.at(kept) = next
	}
	h.n = kept + 1
	h.begun = begun
}

// at is the i-th mark, oldest first.
func (h *history) at(i int) *mark { return &h.marks[(h.head+i)&(len(h.marks)-1)] }

// upTo is the least that the total can have been at t, that moment included.
func (h *history) upTo(t moment) float64 {
	switch {
	case h.n == 0 || t < h.at(0).at:
		return h.before
	case t >= h.at(h.n-1).at:
		return h.total
	}
	lo, hi := 1, h.n-1
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if h.at(mid).at <= t {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return h.at(lo - 1).total
}

// within is the most that the total can have been at t.
func (h *history) within(t moment) float64 { return h.upTo(t + h.grain) }

// covers says whether the total at t has not been forgotten.
func (h *history) covers(t moment) bool { return h.before == 0 || t >= h.at(0).at }

// reached is when the total came to x; the zero moment if that is forgotten.
func (h *history) reached(x float64) moment {
	if h.n == 0 || h.before >= x {
		return 0
	}
	lo, hi := 0, h.n-1
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if h.at(mid).total < x {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return h.at(lo).at
}
