package mirror

// word is the reset of the newest answer, whatever the law: by then the server gives something back. What it says is worth more than what is
// believed of it: one answer with a reset of a day makes a log of a minute look like one of a day.
type word struct {
	known       bool
	left        float64 // Remaining in that answer
	sent, heard moment  // when its call left, and when it came
	by          moment  // when it is overdue
}

// overdue is how many times as long as the server said is waited for at most: resets may be rounded, frozen, or of what others take first.
const overdue = 3

func (w *word) hear(r *reading) {
	if r.counted && r.timed && r.reset > 0 && r.sent >= w.sent {
		*w = word{true, r.left, r.sent, r.received, r.received + overdue*r.reset + r.grain}
	}
}

// overdueAt is from when on n units must have come back, by the newest answer and what has left since; not known where what comes back is not for
// us alone. While another answer is on its way, that one will tell more.
func (m *Mirror) overdueAt(t moment, n float64, net Network) (at moment, known bool) {
	w := &m.word
	if !w.known || m.most() < m.limit || m.others.present(t) {
		return 0, false
	}
	at = w.by
	if m.aloft(t) > 0 {
		at = max(at, m.atAnswer(t, net))
	}
	used := m.sends.total - m.sends.upTo(w.sent) - m.deniedSince(w.heard)
	return at, n <= w.left+1-used-m.kept(n)
}
