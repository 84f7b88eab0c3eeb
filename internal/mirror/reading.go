package mirror

// A reading is what one answer says of the supply: the own units that the server will have granted in all, counted from the
// mirror's first. The server saw an unknown number of our other calls before this one, so the supply is an interval.
type reading struct {
	sent, received moment
	cost           float64
	refused        bool

	counted bool    // Remaining was told; without it the numbers below mean nothing
	told    float64 // Remaining
	left    float64 // the same, but never more than the call itself can have left
	limit   float64 // the limit it is of, 0 if unknown
	slack   float64 // how far left may be off, because the server rounds it
	regrid  bool    // that has just been noticed, or proved wrong
	// lo and hi trust the guard: what left more than a guard earlier had arrived, what left more than a guard later had not.
	lo, hi float64
	// sureLo and sureHi trust nothing: only a call that had ended before this one left had surely arrived, and only one
	// that left after this one's answer came had surely not.
	sureLo, sureHi float64

	timed  bool   // Reset was told
	reset  moment // the true one is within grain of it
	grain  moment
	length moment // the window's, if it was told
}

// read turns an answer into a reading. Its Remaining is worth nothing when the sends around it are forgotten.
func (m *Mirror) read(a *Answer, net Network) reading {
	q := &a.Quota
	r := reading{sent: m.since(a.Sent), received: m.since(a.Received), cost: a.Cost, refused: a.Refused}
	if q.Reset.Known {
		r.timed, r.reset, r.grain = true, q.Reset.Value, q.Grain
	}
	if q.Window.Known {
		r.length = q.Window.Value
	}
	guard := max(net.Guard, 1)
	if !q.Remaining.Known || !m.sends.covers(r.sent-guard) {
		return r
	}
	r.counted, r.told, r.left, r.limit = true, q.Remaining.Value, q.Remaining.Value, m.limit
	if q.Limit.Known {
		r.limit = q.Limit.Value
	}
	if m.hollow.hear(&r) {
		m.unlearn()
	}
	if m.hollow.yes() {
		r.counted = false
		return r
	}
	r.regrid = m.grid.hear(r.left, r.limit, r.cost)
	r.slack = m.grid.width()
	if m.late.notice(&r); m.late.yes {
		m.readLate(&r)
		return r
	}
	if r.limit > 0 && !r.refused {
		r.left = min(r.left, max(0, r.limit-r.cost)) // this call at least was counted, whatever the rounding
	}
	r.sureLo = m.ends.upTo(r.sent-1) + a.Cost + r.left - r.slack
	r.sureHi = m.sends.within(r.received) + r.left + r.slack
	before := max(guard, min(net.Latency, hanging)/2)
	r.lo = max(r.sureLo, m.sends.upTo(r.sent-before)+a.Cost+r.left-r.slack)
	r.hi = min(r.sureHi, m.sends.within(r.sent+guard)+r.left+r.slack)
	return r
}

// readLate is for a server that counts calls when they end: only those that had ended are surely counted, and at most this one beside them.
func (m *Mirror) readLate(r *reading) {
	r.sureLo = m.ends.upTo(r.sent-1) + r.left - r.slack
	r.sureHi = m.ends.within(r.received) + r.cost + r.left + r.slack
	r.lo, r.hi = r.sureLo, r.sureHi
}

// used is what anybody has used of the limit.
func (r *reading) used() float64 { return r.limit - r.left }

// from and to bound the moment of the reset. A server that rounds down makes both too early by as much as it cuts off.
func (r *reading) from() moment {
	if !r.timed {
		return r.sent
	}
	return r.sent + max(0, r.reset-r.grain)
}
func (r *reading) to() moment { return r.received + r.reset }
