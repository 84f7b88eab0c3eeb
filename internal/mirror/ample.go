package mirror

import "time"

// amplePart is the part of what we may use that is ample: with so much left, one answer more or less changes nothing.
const amplePart = 0.5

// Ample says whether so much is left that the answers of the next moment tell nothing worth knowing: the quota is well known, and nobody else draws.
func (m *Mirror) Ample(now time.Time) bool {
	t := m.since(now)
	return m.law != undecided && m.contact.over() && !m.late.yes && !m.others.present(t) && m.limit > 0 && m.available(t) >= amplePart*m.most()
}

// End counts a call of n units as no longer on its way. It stands for Learn where an answer is not looked at, since the quota is Ample.
func (m *Mirror) End(now time.Time, n float64) {
	m.ends.add(m.since(now), min(n, m.flying()))
}
