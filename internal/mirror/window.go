package mirror

import "math"

// window is a quota whose supply is a staircase: nothing is given back before the edge, everything at it.
type window struct {
	supply  float64 // own units that may have been sent when it ends
	ceiling float64 // which the supply cannot exceed: own units sent when it opened, and the limit
	read    bool    // supply comes from an answer or an opening
	leastHi float64 // least sureHi
	high    mark2
	used    float64 // most of the limit that was used in it, by anybody
	refused float64 // own units refused in it; servers differ in whether they count

	edge     moment // no later than this it ends
	edgeLow  moment // no earlier than this
	dated    bool   // edge is known
	previous moment // the edge before; 0 if none
	opened   moment // first own send in it, 0 if none
	late     moment // what to add to every reset, because the server rounds down
	proven   bool   // its edge gives everything back: one was crossed
}

func newWindow() window {
	w := window{}
	w.forget()
	return w
}

// forget drops what was known of the supply, not of the edge.
func (w *window) forget() {
	w.read, w.refused, w.used = false, 0, 0
	w.supply, w.ceiling, w.leastHi = 0, math.Inf(1), math.Inf(1)
	w.high = newHigh()
}

func (w *window) sent(t moment) {
	if w.opened == 0 {
		w.opened = t
	}
}

// turn opens the next window when the edge of a proven one has passed.
func (m *Mirror) turn(t moment) {
	w := &m.win
	if m.law != windowLaw || !w.dated || t < w.edge || m.limit == 0 {
		return
	}
	w.open(w.edge)
	m.others.open()
	// What is in the air may have arrived on either side: it is charged to both.
	w.supply = m.ends.upTo(w.previous) + m.limit
	w.ceiling = m.sends.upTo(w.previous) + m.limit
	w.read = true
}

func (w *window) open(edge moment) {
	w.forget()
	w.previous, w.dated, w.edgeLow, w.opened = edge, false, 0, 0
}

// whenWindow is when n units may leave, and whether they must cross the edge alone.
func (m *Mirror) whenWindow(t moment, n float64, net Network) (moment, bool) {
	w := &m.win
	free := w.supply - m.reserve() - m.sends.total
	if !w.read {
		free = math.Inf(1)
	}
	switch {
	case n <= free:
		at := m.others.pace(t, m.last, n)
		if w.dated && at > w.edge {
			return w.edge, m.law != windowLaw
		}
		return at, false
	case w.dated:
		return w.edge, m.law != windowLaw
	case m.flying() > 0:
		return t + net.answer(), false
	default:
		return m.probe(), true
	}
}

// probe is when to ask again a quota that is used up and never said until when: as long after the newest answer as there had
// been none left then, at least a second.
func (m *Mirror) probe() moment { return m.heard + probeLeast }
