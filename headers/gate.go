package headers

// gate is a cheap first look at a header's name: a set of the first, third and fourth letter of every name that matters, case
// ignored, five bits of each. Most headers of an answer fail it; one that passes may still be of no interest.
type gate [1 << 15 / 64]uint64

// knownNames is the gate of all names that Parse knows. It never changes.
var knownNames = newGate()

func newGate() (g gate) {
	for name := range places {
		g.add(name)
	}
	for _, f := range prefixes {
		g.add(f.text)
	}
	return g
}

// gateIndex wants a name of at least four letters.
func gateIndex(name string) uint {
	return uint(name[0]&31)<<10 | uint(name[2]&31)<<5 | uint(name[3]&31)
}

func (g *gate) add(name string) {
	i := gateIndex(name)
	g[i/64] |= 1 << (i % 64)
}

func (g *gate) admits(name string) bool {
	i := gateIndex(name)
	return g[i/64%uint(len(g))]>>(i%64)&1 != 0
}
