package mirror

// contact is the first acquaintance with a quota. One call goes alone; every answer after it lets another tenth of what the
// newest one leaves into the air, until enough have agreed that nobody else draws. So ten processes that start at once do not
// run into each other, and a lone one loses a round trip. The zero value has heard nothing.
type contact struct {
	answers int
	left    float64 // by the answer whose call left last
	sent    moment
}

const (
	// acquainted is how many answers end the first contact.
	acquainted = 8
	// opening is the part of what is left that each answer allows to be in the air.
	opening = 0.1
)

func (c *contact) hear(r *reading) {
	if c.over() {
		return
	}
	if c.answers == 0 || r.sent >= c.sent {
		c.left, c.sent = r.left, r.sent
	}
	c.answers++
}

// over says whether the quota is well known.
func (c *contact) over() bool { return c.answers >= acquainted }

// full says whether n more units would put too much into the air, while the first contact is not over.
func (c *contact) full(flying, n float64) bool {
	return c.answers > 0 && flying > 0 && flying+n > opening*float64(c.answers)*c.left
}
