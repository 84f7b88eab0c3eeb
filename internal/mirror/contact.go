package mirror

// contact is the first acquaintance with a quota. Until enough answers agree that nobody else draws on it, only so many calls
// are in the air that half of what the newest answer leaves stays untouched. The zero value has heard nothing.
type contact struct {
	agreed int
	left   float64
	sent   moment
}

// acquainted is how many answers must agree that nobody else draws. Fewer let several processes that start at once run into
// each other; more only matter for tiny limits.
const acquainted = 8

func (c *contact) answered(r reading) {
	if c.agreed >= acquainted || !r.counted {
		return
	}
	if c.agreed == 0 || r.sent >= c.sent {
		c.left, c.sent = r.left, r.sent
	}
	c.agreed++
}

// tooMany says whether one more call of n units would put too much into the air.
func (c *contact) tooMany(flying, n float64) bool {
	return c.agreed > 0 && c.agreed < acquainted && flying > 0 && flying+n > c.left/10*float64(c.agreed)
}
