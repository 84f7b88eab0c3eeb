package mirror

import (
	"math"
	"time"
)

// edge is when a window ends, by what its answers say: no later than the earliest of what they promise.
type edge struct {
	known       bool
	least, most moment // the earliest and the latest promise
	low         moment // the window surely has not ended before
	grain       moment // of the coarsest reset

	// How the server rounds its resets, as far as is known. It outlives the window.
	up   bool
	late moment // what to add to every promise of a server that rounds down or to the nearest
}

func (e *edge) forget() { *e = edge{up: e.up, late: e.late} }

// hear takes in what an answer from this window says of its edge.
func (e *edge) hear(r *reading) {
	if !r.timed {
		return
	}
	if r.reset == 0 && r.grain > 0 {
		e.late = max(e.late, r.grain) // a server that rounds up does not say so before the edge
	}
	if !e.known {
		e.known, e.least, e.most = true, r.to(), r.to()
	}
	e.least, e.most = min(e.least, r.to()), max(e.most, r.to())
	e.low = max(e.low, r.from())
	e.grain = max(e.grain, r.grain)
}

// outlived notes that the window answered after its supposed end.
func (e *edge) outlived(r *reading) {
	e.late = max(e.late, r.grain)
	e.least = r.to()
}

const (
	// spread is how much of a grain the promises must cover so that each fraction of a second has had its turn.
	spread = 0.9
	// prompt is how soon after the earliest promise a call must have found the new window, in grains, to show that none came too
	// early. Rounding to the nearest makes the earliest half a grain too early.
	prompt = 0.25
)

// crossed notes that a call found the next window open: if it left right after the earliest of promises that cover all
// fractions, the server rounds up.
func (e *edge) crossed(r *reading) {
	covered := float64(e.most-e.least) >= spread*float64(e.grain)
	e.up = e.up || e.known && covered && float64(r.sent-e.least) < prompt*float64(e.grain)
}

// edgeOf is when the present window ends, whether that is known, and whether it is sure. A window that ended once ends again
// one length after its first answer, at the latest.
func (m *Mirror) edgeOf() (at moment, known, sure bool) {
	w := &m.window
	e := &w.edge
	at, known, sure = e.least+e.late, e.known, e.grain == 0 || e.late > 0 || e.up
	if m.law != windowLaw || w.previous == 0 || !m.length.sure() || w.opened == 0 {
		return at, known, sure
	}
	byLength := w.opened + m.length.value
	if !known {
		return byLength, true, true
	}
	if !sure {
		at += e.grain
	}
	return min(at, byLength), true, true
}

// probeEvery is how long after the newest answer a quota is tried again that is used up and never said until when.
const probeEvery = time.Second

// place says which window an answer speaks of.
type place uint8

const (
	this    place = iota
	earlier       // one before: nothing to learn from it any more
	next          // a new one has begun
)

func (m *Mirror) place(r *reading) place {
	w := &m.window
	at, known, _ := m.edgeOf()
	switch {
	case w.previous > 0 && r.from() < w.previous:
		return earlier
	case !known || r.from() < at:
		return this
	case m.outlives(r):
		w.edge.outlived(r)
		return this
	}
	return next
}

// longInGrains is how many grains a window must be long for a reset of one grain to be its end and not its beginning.
const longInGrains = 4

// outlives says whether the old window still answers after the moment that was taken for its end: nothing was given back, and
// the reset is still about to come. It is how a server shows that it rounds down.
func (m *Mirror) outlives(r *reading) bool {
	ending := r.timed && r.reset <= r.grain && m.length.value > longInGrains*r.grain
	return ending && (r.refused || r.counted && r.sureLo <= m.window.heights.least)
}

// heights are the least values that the supply surely did not exceed. An answer that is merely slow tells of an earlier time,
// when others had not yet drawn what they drew since, so a rise is proven only by a call that left after the lower height was
// known.
type heights struct {
	least           float64 // of all answers
	settled         float64 // of those that came before since
	since           moment
	closed, filling float64 // of the two batches that follow
	closedAt        moment
	heard           moment // when the newest answer came: a call that left later knows of them all
}

func (h *heights) forget() {
	inf := math.Inf(1)
	*h = heights{least: inf, settled: inf, closed: inf, filling: inf}
}

func (h *heights) add(r *reading) {
	if r.sent >= h.closedAt {
		h.settled, h.since = min(h.settled, h.closed), h.closedAt
		h.closed, h.closedAt, h.filling = h.filling, r.received, math.Inf(1)
	}
	h.filling = min(h.filling, r.sureHi)
	h.least = min(h.least, r.sureHi)
	h.heard = max(h.heard, r.received)
}

// below says whether an answer stands above a height by more than slack that was known when its call left.
func (h *heights) below(r *reading, slack float64) bool {
	floor := h.settled
	if r.sent >= h.heard {
		floor = h.least
	}
	return r.sent >= h.since && r.sureLo > floor+slack
}
