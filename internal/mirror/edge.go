package mirror

import "time"

const probeLeast = time.Second

// place says which window an answer speaks of.
type place uint8

const (
	this    place = iota
	earlier       // the one before: nothing to learn from it any more
	next          // a new one has begun
)

func (w *window) place(r reading, length moment) place {
	if w.outlives(r, length) {
		return this
	}
	from := r.sent
	if r.timed {
		from = r.from()
	}
	switch {
	case w.previous > 0 && from < w.previous:
		return earlier
	case w.dated && from >= w.edge:
		return next
	}
	return this
}

// outlives says whether the old window still answers after the moment that was taken for its end: nothing was given back, and
// the reset is still about to come. It is how a server shows that it rounds its resets down.
func (w *window) outlives(r reading, length moment) bool {
	late := w.dated && r.sent >= w.edge && r.timed && r.reset <= r.grain && length > longInGrains*r.grain
	return late && (r.refused || r.counted && r.sureLo <= w.leastHi)
}

// longInGrains is how many grains a window must be long for a reset of one grain to be its end and not its beginning.
const longInGrains = 4

// narrow takes in what an answer from this window says of its edge.
func (w *window) narrow(r reading) {
	if !r.timed {
		return
	}
	if w.dated && r.sent >= w.edge {
		// The old window answers after its end: this server rounds down, so every edge is later than it says.
		w.late = max(r.grain, w.late)
		w.edge = r.to() + w.late
		return
	}
	if to := r.to() + w.late; !w.dated || to < w.edge {
		w.edge, w.dated = to, true
	}
	w.edgeLow = max(w.edgeLow, r.from())
}
