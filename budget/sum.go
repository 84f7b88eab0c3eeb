package budget

// sum adds floats up without drifting, however many are added and taken off again: lo holds what rounding cut off from hi
// (Knuth, The Art of Computer Programming, vol. 2, 4.2.2, theorem B). The zero value is 0.
type sum struct{ hi, lo float64 }

func (s *sum) add(x float64) {
	t := s.hi + x
	z := t - s.hi
	s.lo += (s.hi - (t - z)) + (x - z)
	s.hi = t
}

func (s *sum) value() float64 { return s.hi + s.lo }
