package mirror

import "time"

// moment is a time as the mirror counts it: since the mirror was made.
type moment = time.Duration

// A history remembers a running total over time, so that "how much was it then" can be asked. It keeps the newest 512 marks;
// amounts closer together than its grain share a mark. The zero value is an empty history of exact times.
type history struct {
	grain moment // amounts that come within it are one mark

	marks  []mark // a ring whose length is a power of two
	head   int    // index of the oldest mark
	n      int
	total  float64
	before float64 // the total before the oldest mark
	opened moment  // when the newest mark was begun
}

// A mark says that the total had become this much at this moment.
type mark struct {
	at    moment
	total float64
}

// historyCap bounds the marks of one history: 8 KB, enough for 512 calls in the air each with a mark of its own.
const historyCap = 512

// add counts n more at t. Moments must not run backwards; one that does counts as the latest.
func (h *history) add(t moment, n float64) {
	h.total += n
	if h.n > 0 {
		newest := h.at(h.n - 1)
		t = max(t, newest.at)
		if t == newest.at || t-h.opened < h.grain {
			newest.at, newest.total = t, h.total
			return
		}
	}
	h.room()
	*h.at(h.n) = mark{t, h.total}
	h.n++
	h.opened = t
}

// room makes place for one more mark.
func (h *history) room() {
	switch {
	case h.n < len(h.marks):
	case h.n == historyCap:
		h.before = h.marks[h.head].total
		h.head = (h.head + 1) & (historyCap - 1)
		h.n--
	default:
		grown := make([]mark, max(16, 2*h.n))
		for i := range h.n {
			grown[i] = *h.at(i)
		}
		h.marks, h.head = grown, 0
	}
}

// at is the i-th mark, oldest first.
func (h *history) at(i int) *mark { return &h.marks[(h.head+i)&(len(h.marks)-1)] }

// upTo is the total as it stood at t, the mark of t included; before the oldest mark it is the total that went before.
func (h *history) upTo(t moment) float64 {
	i := h.search(t)
	if i == 0 {
		return h.before
	}
	return h.at(i - 1).total
}

// search is the number of marks not after t.
func (h *history) search(t moment) int {
	lo, hi := 0, h.n
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if h.at(mid).at <= t {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// covers says whether the total at t is still known exactly.
func (h *history) covers(t moment) bool {
	return h.n < historyCap || t >= h.at(0).at
}

// reached is when the total came to x or above; the zero moment if it was there before the oldest mark.
func (h *history) reached(x float64) moment {
	if h.before >= x {
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
