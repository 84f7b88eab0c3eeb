package mirror

import "math"

// window is a quota whose supply is a staircase: nothing is given back before the edge, everything at it.
type window struct {
	read    bool    // supply is known, from an answer or from an opening
	supply  float64 // own units that will have been sent when it is used up
	ceiling float64 // the supply cannot exceed it
	heights heights
	// Own units in it that the server may not have counted, and those whose answers only repeated the number before.
	doubtful, repeated float64
	used               float64 // the most of the limit seen used in it, by anybody
	left               float64 // Remaining in the latest answer,
	seen               moment  // and when its call left

	edge edge
	// previous is the edge before, zero if none was crossed; opened when the first answer after it came, zero if none has.
	previous, opened moment
}

// forget drops what was known of the supply, not of the edge.
func (w *window) forget() {
	w.read, w.doubtful, w.repeated, w.used, w.left = false, 0, 0, 0, -1
	w.supply, w.ceiling = 0, math.Inf(1)
	w.heights.forget()
}

// open begins the window after the given edge.
func (w *window) open(at moment) {
	w.forget()
	w.edge.forget()
	w.previous, w.opened = at, 0
}

// turn opens the next window when the edge of a proven one has passed.
func (m *Mirror) turn(t moment) {
	if m.law != windowLaw || m.limit <= 0 {
		return
	}
	at, known, _ := m.edgeOf()
	if !known || t < at {
		return
	}
	w := &m.window
	w.open(at)
	m.others.forget()
	// What has just left may have arrived on either side of the edge: it is charged to both.
	w.supply = max(m.ends.upTo(at), m.sends.upTo(at-hanging)) + m.limit
	w.ceiling = m.sends.within(at) + m.limit
	w.read = true
}

// free is what may be sent of the present window, when n more units are to leave.
func (m *Mirror) free(n float64) float64 {
	if !m.window.read {
		return math.Inf(1)
	}
	return m.window.supply - m.sends.total - m.kept(n)
}

func (m *Mirror) whenWindow(t moment, n float64, net Network) (at moment, lone bool) {
	edge, known, sure := m.edgeOf()
	if n <= m.free(n) {
		at := max(m.others.pace(t, m.last, n), m.whenLast(n))
		if !known || at < edge {
			return at, false
		}
	}
	switch {
	case known:
		return edge, m.law != windowLaw || !sure
	case m.aloft(t) > 0:
		return m.atAnswer(t, net), false
	default:
		return m.heard + probeEvery, true
	}
}

// learnWindow takes in an answer while the server is taken for a fixed window.
func (m *Mirror) learnWindow(r *reading, net Network) {
	if m.law == undecided && m.filling.confirmed {
		m.becomeBucket(r)
		return
	}
	verdict := m.law
	switch where := m.place(r); {
	case where == earlier:
		return
	case where == next && m.receded(r): // not a new one
	case where == next:
		verdict = m.prove(r, net)
		m.cross(verdict, r)
	case m.rose(r):
		if verdict = m.prove(r, net); verdict == windowLaw && !m.tooBrief(r) {
			m.cross(verdict, r)
		} else {
			verdict = bucketLaw
		}
	}
	if verdict == bucketLaw {
		m.becomeBucket(r)
		return
	}
	m.heed(r)
}

// heed takes in an answer that speaks of the present window.
func (m *Mirror) heed(r *reading) {
	if w := &m.window; w.opened == 0 {
		w.opened = r.received
	}
	m.window.edge.hear(r)
	m.level(r)
	if r.counted {
		m.askBrief(r)
		m.watch(r, m.window.supply, 0)
	}
}

// receded says whether the reset moved away before it came, while nothing was given back: a bucket's does so while it is being
// emptied.
func (m *Mirror) receded(r *reading) bool {
	at, known, _ := m.edgeOf()
	return known && r.received < at && r.counted && r.used() >= m.window.used
}

// cross begins the window that an answer speaks of.
func (m *Mirror) cross(verdict law, r *reading) {
	w := &m.window
	edge, known, _ := m.edgeOf()
	if !known || edge > r.received {
		edge = r.received // the new window has answered, so it has begun
	}
	w.edge.crossed(r)
	m.law = verdict
	w.open(edge)
	m.others.forget()
	w.ceiling = m.sends.within(edge) + m.limitOr()
}

// rose says whether the supply grew before the edge, beyond what the order of arrival can explain. A call whose answer repeats the
// number of the one before may not have been counted, or not yet, as long as the window is not used up.
func (m *Mirror) rose(r *reading) bool {
	w := &m.window
	if !r.counted || !m.contact.over() {
		return false
	}
	spent := w.read && w.supply < m.ends.total && !r.refused
	slack := w.doubtful + 1
	if !spent {
		slack += w.repeated
		if r.left == w.left {
			slack += r.cost
		}
	}
	return w.heights.below(r, slack)
}

// level takes in what an answer from this window says of its supply.
func (m *Mirror) level(r *reading) {
	w := &m.window
	if !r.counted {
		m.guess(r)
		return
	}
	if r.left == w.left {
		w.repeated += r.cost
	}
	w.heights.add(r)
	w.left, w.seen = r.left, r.sent
	w.used = max(w.used, r.used())
	lo := min(r.lo, w.ceiling, w.heights.least)
	switch {
	case !w.read:
		w.supply, w.read = lo, true
	case r.hi < w.supply:
		w.supply = r.hi
	case lo > w.supply:
		w.supply = lo
	}
}

// guess is for servers that do not tell what is left: the limit counts from our own first call, and a refusal says that
// nothing is.
func (m *Mirror) guess(r *reading) {
	w := &m.window
	switch {
	case r.refused:
		w.supply, w.read = m.ends.total, true
	case !w.read && m.limit > 0:
		w.supply, w.read = m.sends.upTo(r.sent)-r.cost+m.limit, true
	}
}
