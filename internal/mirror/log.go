package mirror

import "math"

// journalGuard is the allowance for jitter between two own calls a length apart. It never doubles a tiny length.
func (m *Mirror) journalGuard(net Network) moment { return min(net.Guard+m.caution, m.length.value/2) }

// wary widens the guard after a refusal of a call that the own log had room for: the network is more uneven than the guard
// allows. Refusals of calls that left before the last widening are its echo.
func (m *Mirror) wary(r reading, net Network) {
	if r.sent < m.warned {
		return
	}
	m.warned = r.received
	m.caution = min(2*m.caution+net.Guard/2, net.Latency)
}

// whenLog is when the own units of the last length leave room for n more.
func (m *Mirror) whenLog(t moment, n float64, net Network) moment {
	may := m.limitOr() - m.reserve() - n
	if math.IsInf(may, 1) || m.sends.total <= may {
		return t
	}
	return m.journal.reached(m.sends.total-may) + m.length.value + m.journalGuard(net)
}

// learnLog takes in an answer while the server is taken for a sliding log. It is one as long as what is used lies between
// what it surely still holds of ours and what it may hold.
func (m *Mirror) learnLog(r reading, net Network) {
	w := &m.win
	where := w.place(r, m.length.value)
	if where == earlier {
		return
	}
	verdict := m.law
	if r.counted && m.limit > 0 {
		verdict = m.doubt(r, net)
	}
	if verdict == bucketLaw {
		m.becomeBucket(r)
		return
	}
	if where == next || verdict == windowLaw {
		edge := w.edge
		w.open(edge)
		w.ceiling = m.sends.upTo(edge) + m.limit
	}
	m.law = verdict
	w.narrow(r)
	m.level(r)
}

// doubt says what the server is when an answer contradicts the log.
func (m *Mirror) doubt(r reading, net Network) law {
	used := m.limit - r.left
	start := r.sent - m.length.value
	least := m.ends.upTo(r.sent-1) + r.cost - m.journal.upTo(r.received-m.length.value+m.journal.grain)
	most := m.sends.upTo(r.received) - m.journal.upTo(start-2*net.Latency)
	switch {
	case r.refused: // its cost was not counted
		least -= r.cost
	}
	if used >= least-1 && used <= most+1+foreignSlack*m.limit {
		if r.refused {
			m.wary(r, net)
		} else if w, v := m.inLastLength(r, net); used >= w-1 && used <= v+1 {
			m.proven = true
		}
		return logLaw
	}
	sinceEdge := m.sends.upTo(r.received) - m.ends.upTo(m.win.edgeLow)
	if r.received >= m.win.edgeLow && used <= max(sinceEdge, r.cost)+1 {
		return windowLaw
	}
	return bucketLaw
}
