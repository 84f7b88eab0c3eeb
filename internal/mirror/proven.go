package mirror

// Proven says whether Window is more than the longest reset seen so far: the server told it, or its answers have shown how it counts.
func (m *Mirror) Proven() bool { return m.length.told || m.law != undecided }
