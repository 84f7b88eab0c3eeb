package bank

import "time"

// tally is the counter that all laws of windows share: calls since some moment. Values are intervals, since calls closer than the
// guard may arrive in either order: one let in counts with the least value that any order allows, a refused one with the highest.
type tally struct {
	verdict
	harsh       bool // refused calls count too
	early, late int  // where the last search of the tape ended
}

// weigh judges a call by the calls since a window opened, somewhere between two moments. Of refusals that may have overtaken each
// other one was the first, so those sent later do not count against one sent earlier.
func (c *tally) weigh(e *evidence, earliest, latest instant) {
	if e.refused() {
		c.early = e.seek(c.early, earliest)
		n := e.upTo(e.through).maybe - e.upTo(c.early).maybe
		if c.harsh && c.early < e.i {
			n += e.upTo(e.i).refused - e.upTo(c.early).refused
		}
		c.refuse(float64(n) + 1)
		return
	}
	c.late = min(e.seek(c.late, latest), e.before)
	n := e.upTo(e.before).sure - e.upTo(c.late).sure
	if c.harsh {
		n += e.upTo(e.before).refused - e.upTo(c.late).refused
	}
	c.admit(float64(n) + 1)
}

// count is the calls from one place of the tape to another that the server counts, or may.
func (c *tally) count(t *tape, from, to int) float64 {
	n := t.upTo(to).maybe - t.upTo(from).maybe
	if c.harsh {
		n += t.upTo(to).refused - t.upTo(from).refused
	}
	return float64(n)
}

// compare holds the moments between which a law opens against the server's own words. Where refused calls count, those that came after the words
// moved it.
func (c *tally) compare(e *evidence, h hint, earliest, latest instant) {
	if h.rough {
		c.denied = c.denied || h.absurd(e.at, earliest)
	} else if latest < h.from-2*e.guard || earliest > h.to+2*e.guard && !c.harsh {
		c.denied = true
	}
}

func (c *tally) windowed() bool { return true }

// nearLimit is the part of a limit from which a refusal surprises nobody: it was learned from what came before.
const nearLimit = 0.9

// harshness makes a law that counts refusals promise less than one that does not, as long as both may be true: few servers do.
const harshness = 0.9

// rate is the calls per second that the law lets through.
func (c *tally) rate(span time.Duration) float64 {
	if c.harsh {
		return harshness * c.limit() / span.Seconds()
	}
	return c.limit() / span.Seconds()
}

func (c *tally) known() bool { return true }

func (c *tally) extent() float64 { return c.limit() }

func (c *tally) save() (restore func()) {
	v := c.verdict
	return func() { c.verdict = v }
}

func (c *tally) forget() { c.verdict = unjudged() }
