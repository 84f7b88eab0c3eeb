package mirror

import "math"

func (m *Mirror) becomeLog() { m.law = logLaw }

func (m *Mirror) learnLog(reading) {}

// whenLog is when the own units of the last length leave room for n more.
func (m *Mirror) whenLog(t moment, n float64, net Network) (moment, bool) {
	may := m.limitOr() - m.reserve() - n
	if math.IsInf(may, 1) {
		return t, false
	}
	return m.journal.reached(m.sends.total-may) + m.length.value + net.Guard, false
}
