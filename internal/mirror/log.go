package mirror

// slidingLog is a quota whose every unit comes back one length after it was spent. Its own count is strict, so it admits no
// more than a window or a bucket of the same limit does.
type slidingLog struct {
	proven bool    // an answer agreed with it; before that calls go alone
	guard  moment  // the allowance for jitter, as of the latest answer
	extra  moment  // what refusals have added to it
	warned moment  // when they last did,
	denied float64 // and what had been refused in all by then
}

// whenLog is when the own units of the last length leave room for n more.
func (m *Mirror) whenLog(t moment, n float64) moment {
	may := m.limitOr() - m.kept(n) - n
	if m.sends.total <= may {
		return t
	}
	return m.journal.reached(m.sends.total-may) + m.length.value + m.log.guard
}

// learnLog takes in an answer while the server is taken for a sliding log.
func (m *Mirror) learnLog(r *reading, net Network) {
	where := m.place(r)
	if where == earlier {
		return
	}
	verdict := m.doubt(r, net)
	if verdict == bucketLaw {
		m.becomeBucket(r)
		return
	}
	if where == next || verdict == windowLaw {
		m.cross(verdict, r)
	}
	m.heed(r)
}

// doubt says what the server is when an answer contradicts the log.
func (m *Mirror) doubt(r *reading, net Network) law {
	if !r.counted || r.limit <= 0 {
		return logLaw
	}
	fit := m.logFit(r, net)
	m.log.proven = m.log.proven || fit == telling
	switch {
	case fit == refuted && m.full(r, net):
		return windowLaw
	case fit == refuted || r.refused && !m.log.warn(r, net, m.denied.total, m.limit):
		return bucketLaw
	}
	return logLaw
}

// logGuard is the allowance for jitter between two own calls a length apart: the common one, what refusals have added, and a
// thousandth of the length, which costs next to nothing. It never doubles a tiny length.
func (m *Mirror) logGuard(net Network) moment {
	spare := min(m.length.value/1000, net.Latency)
	return min(net.Guard+spare+m.log.extra, m.length.value/2)
}

// warn widens the guard after a refusal of a call that the log had room for: the network is more uneven than the guard allows.
// Refusals of calls that left before the last widening are its echo. So many of them show another law, and warn is false.
func (l *slidingLog) warn(r *reading, net Network, denied, limit float64) bool {
	if r.sent < l.warned {
		return denied-l.denied <= max(echoLeast, echoPart*limit)
	}
	l.warned, l.denied = r.received, denied
	l.extra = min(2*l.extra+net.Guard/2, net.Latency)
	return true
}

const (
	// echoLeast and echoPart, of the limit, are what an uneven network may get refused in one round trip.
	echoLeast = 3
	echoPart  = 0.05
)
