package mirror

// reserve is what a server keeps back of what it says is left: it refused a call that would have fitted.
type reserve struct {
	held  float64
	until moment
}

const (
	// reserveMost is the greatest part of a limit that can be a reserve. A refusal with more left has another reason.
	reserveMost = 0.05
	// reserveLengths is how many lengths of the quota a reserve is believed.
	reserveLengths = 10
)

func (v *reserve) hear(r *reading, length moment) {
	if r.refused && r.left >= r.cost && r.left <= max(1, reserveMost*r.limit) {
		v.held = max(v.held, r.left)
		v.until = r.received + reserveLengths*length
	}
}

// units is what to leave unused at t.
func (v *reserve) units(t moment) float64 {
	if t > v.until {
		return 0
	}
	return v.held
}
