package mirror

// grid is the question whether the server rounds what it says is left: then every number is a multiple of a step that the costs
// are not multiples of. The zero value has heard nothing.
type grid struct {
	step  int64   // the greatest common divisor of all numbers told
	cost  int64   // and that of the costs
	moves int     // how often the number changed
	left  float64 // the latest
}

const (
	// gridMoves is how many changes of the number it takes to believe in a step, and gridStep the least that is worth a margin.
	gridMoves = 4
	gridStep  = 5
)

// hear takes in what an answer left of which limit, and what its call cost. It reports whether the width has just changed.
func (g *grid) hear(left, limit, cost float64) bool {
	if g.step == 1 {
		return false
	}
	before := g.width()
	g.step = divisor(divisor(g.step, whole(left)), whole(limit))
	g.cost = divisor(g.cost, whole(cost))
	if left != g.left {
		g.left, g.moves = left, g.moves+1
	}
	return before != g.width()
}

// width is how far a number may be from the true one; zero if the server does not round.
func (g *grid) width() float64 {
	if g.moves < gridMoves || g.step < gridStep || g.cost%g.step == 0 {
		return 0
	}
	return float64(g.step)
}

// whole is x as a whole number, or 1 if it has a fraction or is no amount of units.
func whole(x float64) int64 {
	n := int64(x)
	if float64(n) != x || n < 0 {
		return 1
	}
	return n
}

// divisor is the greatest common divisor; zero divides nothing and leaves the other.
func divisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
