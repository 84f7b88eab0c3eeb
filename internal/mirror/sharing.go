package mirror

// sharing follows how much others draw on the same windows.
type sharing struct {
	own, others float64
	seen        moment
}

func (s *sharing) drew(n float64, r reading) {
	s.others += n
}

func (s *sharing) pace(m *Mirror, t moment, n float64) moment { return t }
