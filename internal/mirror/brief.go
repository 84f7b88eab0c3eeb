package mirror

// brief is the question whether a window is briefer than its resets can tell, or a bucket that is full again before they end: told in whole seconds
// each of them looks like a window of a second. Until it is answered the last unit of a window leaves in its middle, and finds out whether anything has
// come back. Nothing is risked by that, for the unit was there in any case. The zero value has not asked.
type brief struct {
	grain moment // of the resets
	early int    // windows in a row that opened too early
	no    bool   // nothing had come back in the middle of one
}

const (
	// briefTest is the part of a window after which its last unit leaves.
	briefTest = 0.5
	// briefPart is the part of the length that must be over when the next window opens. Less of it may be an edge that was believed too late, but not
	// briefFrom times in a row.
	briefPart = 0.75
	briefFrom = 2
)

// mayBeBrief says whether the present window may be briefer than it seems.
func (m *Mirror) mayBeBrief() bool {
	return m.law == windowLaw && !m.brief.no && !m.length.told && m.length.value <= m.brief.grain && m.others.seen == 0
}

// middle is the moment in the present window at which its last unit leaves.
func (m *Mirror) middle() moment {
	return m.window.previous + moment(briefTest*float64(m.length.value))
}

// whenLast is when n units may leave that are the last of a window; at once if nothing is to be learned from them.
func (m *Mirror) whenLast(n float64) moment {
	if !m.mayBeBrief() || m.free(n) >= 2*n {
		return 0
	}
	return m.middle()
}

// askBrief looks in an answer from the present window whether nothing has come back by its middle.
func (m *Mirror) askBrief(r *reading) {
	m.brief.grain = r.grain
	if m.mayBeBrief() && r.left < 1 && r.sent >= m.middle() {
		m.brief.no = true
	}
}

// tooBrief says whether a window that has just opened shows that all of them are briefer than they seem.
func (m *Mirror) tooBrief(r *reading) bool {
	b := &m.brief
	if float64(r.received-m.window.previous) > briefPart*float64(m.length.value) {
		b.early = 0
		return false
	}
	b.early++
	return b.early >= briefFrom && m.mayBeBrief()
}
