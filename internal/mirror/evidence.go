package mirror

// learnWindow takes in an answer while the server is taken for, or may be, a fixed window.
func (m *Mirror) learnWindow(r reading, net Network) {
	w := &m.win
	if m.law == undecided && m.fill.confirmed {
		m.becomeBucket(r)
		return
	}
	switch w.place(r, m.length.value) {
	case earlier:
		return
	case next:
		m.cross(r, net)
	default:
		if m.rose(r) {
			if m.prove(r, w.edgeLow, net) != windowLaw {
				m.becomeBucket(r)
				return
			}
			m.cross(r, net)
		}
	}
	w.narrow(r)
	m.level(r)
	if r.counted {
		m.watch(r, net)
	}
}

// rose says whether the supply grew before the edge, beyond what the order of arrival can explain.
func (m *Mirror) rose(r reading) bool {
	return r.counted && m.win.high.rose(r, m.win.refused)
}

// level takes in what an answer from this window says of the supply.
func (m *Mirror) level(r reading) {
	w := &m.win
	if r.refused {
		w.refused += r.cost
	}
	if !r.counted {
		return
	}
	w.leastHi = min(w.leastHi, r.sureHi)
	w.used = max(w.used, m.limit-r.left)
	w.high.add(r)
	m.ease(r)
}

func (m *Mirror) ease(r reading) {
	w := &m.win
	lo := min(r.lo, w.ceiling, w.leastHi)
	switch {
	case !w.read:
		w.supply, w.read = lo, true
	case r.hi < w.supply:
		w.supply = r.hi
	case lo > w.supply:
		w.supply = lo
	}
}

// cross decides what the first answer after an edge proves, and opens the next window.
func (m *Mirror) cross(r reading, net Network) {
	w := &m.win
	edge, low := w.edge, w.edgeLow
	verdict := m.prove(r, low, net)
	w.open(edge)
	m.others.open()
	w.ceiling = m.sends.upTo(edge) + m.limitOr()
	switch verdict {
	case bucketLaw:
		m.becomeBucket(r)
	default:
		m.law = verdict
		m.proven = !r.refused
	}
}

// foreignSlack is the part of a limit that others may have taken of a fresh window before our first call reached it.
const foreignSlack = 0.02

// prove reads from the first answer after an edge how the server counts. A window is full but for what was sent since the
// edge; a log lacks what was sent in the last length; anything else refills.
func (m *Mirror) prove(r reading, edgeLow moment, net Network) law {
	if !r.counted || m.limit == 0 {
		return m.law
	}
	used := m.limit - r.left
	if m.others.windows > 0 {
		if r.received >= edgeLow && used < m.win.used/2 {
			return windowLaw
		}
		return m.law
	}
	sinceEdge := m.sends.upTo(r.sent+net.Guard) - m.ends.upTo(edgeLow)
	full := r.received >= edgeLow && used <= max(sinceEdge, r.cost)+foreignSlack*m.limit
	least, most := m.inLastLength(r, net)
	logged := used >= least-1 && used <= most+1 && (r.refused || least <= m.limit)
	switch {
	case full && logged && m.law == undecided:
		return logLaw // it admits what both admit
	case full && logged:
		return m.law
	case full:
		return windowLaw
	case logged:
		return logLaw
	default:
		return bucketLaw
	}
}

// inLastLength is how much of our own a log would still hold when it saw the call: at least and at most.
func (m *Mirror) inLastLength(r reading, net Network) (least, most float64) {
	start := r.sent - m.length.value
	least = m.sends.upTo(r.sent-net.Guard) + r.cost - m.journal.upTo(start+net.Guard+m.journal.grain)
	most = m.sends.upTo(r.sent+net.Guard) - m.journal.upTo(start-net.Guard)
	return least, most
}
