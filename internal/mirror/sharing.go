package mirror

import "time"

// sharing is how a window is divided with others who draw on it, without a word between them. Everybody's draw shows in how
// fast Remaining falls; each takes of what is left over the time left the part it took so far, and a little more.
type sharing struct {
	windows int     // windows in which others still count as present: this one and the next after they were seen
	share   float64 // own part of the whole draw; 0 is not measured yet
	rate    float64 // own units a second that use the window up just at its edge

	begun  bool    // a measurement runs
	since  moment  // from when,
	supply float64 // with this supply
	own    float64 // and this much sent
	start  float64 // least supply at the window's first answer: a certain supply below it shows that others drew
	known  bool
}

const (
	// measureTime and measureOwn are how long the draw is measured before it changes the share.
	measureTime = 2 * time.Second
	measureOwn  = 4
	// pull is what each takes beyond its part so far. Without it shares keep the ratio that chance gave them at first; with
	// it ten equals that differ come within 1 % of each other in about 25 measurements. It makes all together a little
	// faster than even, never more than is left.
	pull = 0.005
)

func (s *sharing) open() {
	s.windows = max(0, s.windows-1)
	s.begun, s.known, s.rate = false, false, 0
}

// watch takes in an answer of the present window.
func (m *Mirror) watch(r reading, net Network) {
	s, w := &m.others, &m.win
	if !s.known {
		s.start, s.known = r.sureLo, true
	}
	if w.leastHi < s.start-w.refused-0.5 {
		s.windows = 2
	}
	if s.windows == 0 || r.sent < m.news {
		return
	}
	m.measure(r)
	if left := w.edge - net.Guard - r.sent; w.dated && left > 0 {
		s.rate = min(1, s.part()+pull) * r.left / left.Seconds()
	}
}

func (s *sharing) part() float64 {
	if s.share == 0 {
		return 0.5
	}
	return s.share
}

func (m *Mirror) measure(r reading) {
	s, w := &m.others, &m.win
	if !s.begun {
		s.begun, s.since, s.supply, s.own = true, r.received, w.supply, m.sends.total
		return
	}
	own := m.sends.total - s.own
	if r.received-s.since < measureTime || own < measureOwn {
		return
	}
	part := own / (own + max(0, s.supply-w.supply))
	if s.share == 0 {
		s.share = part
	}
	s.share += (part - s.share) / 2
	s.begun = false
}

// pace is when n more may leave a window that is shared.
func (s *sharing) pace(t, last moment, n float64) moment {
	if s.windows == 0 || s.rate <= 0 {
		return t
	}
	return last + seconds(n/s.rate)
}
