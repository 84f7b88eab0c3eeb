package mirror

// hollow is the question whether Remaining is a number at all. Some servers say of every call they admit that nothing is left, because they
// round down or count something else. Admissions are believed over such numbers. The zero value believes the number.
type hollow struct {
	empty int    // admitted calls that left nothing, each of them after the reset of the one before
	by    moment // when the reset of the newest comes
	moved bool   // something was left once, so it is a number
}

// hollowFrom is how many such calls show that what is said to be left is no number. Others may have taken all that a reset brought before our first call
// after it, but hardly twice without our ever seeing any of it.
const hollowFrom = 3

func (h *hollow) yes() bool { return h.empty >= hollowFrom }

// hear takes in what is told to be left, and reports whether the number has just turned out to be hollow, or not to be.
func (h *hollow) hear(r *reading) (turned bool) {
	switch {
	case h.moved:
	case r.told >= 1:
		turned = h.yes()
		*h = hollow{moved: true}
	case r.timed && !r.refused && r.limit > r.cost && r.sent >= h.by:
		h.empty, h.by = h.empty+1, r.to()
		turned = h.empty == hollowFrom
	}
	return turned
}

// unlearn forgets what Remaining has taught, and how the server counts.
func (m *Mirror) unlearn() {
	m.law, m.log.proven, m.contact = undecided, false, contact{}
	m.bucket, m.others, m.filling, m.reserve, m.word = bucket{}, sharing{}, filling{}, reserve{}, word{}
	m.window.forget()
}

// learnHollow takes in an answer whose Remaining is no number. Limit and Reset are all there is to go by: a log of the longest reset seen admits no more
// than a window or a bucket that is full at its reset. It is entered slowly, as if for the first time.
func (m *Mirror) learnHollow(r *reading) {
	m.law, m.log.proven = logLaw, true
	r.left = r.limit
	m.contact.hear(r)
}
