package bank

import (
	"math"
	"time"
)

// law is one way a server may count calls. It is alive as long as its counter separates the calls that were let in from those that
// were turned away.
type law interface {
	// judge takes the outcome of one call as evidence.
	judge(e *evidence)
	alive() bool
	// promise is the calls per second that the law lets through in the long run.
	promise(s *scene) float64
	// at is when the next call may leave, never if only an answer can open the way.
	at(s *scene) instant
	// asking is whether the law would not be surprised if the last call were turned away.
	asking(s *scene) bool
	// forget drops all evidence.
	forget()
	state() State
}

// evidence is a call whose outcome is known, and what is needed to count it.
type evidence struct {
	*tape
	i     int
	at    instant
	guard time.Duration
	reach time.Duration // the network round trip: an answer received this long after a send was on its way before the call arrived
	// how many calls had left before any that could overtake this one, and up to the last that could be overtaken by it
	before, through int
}

func (e *evidence) refused() bool { return e.sends[e.i].outcome == refused }

// scene is the present, for which a law has to name a moment.
type scene struct {
	*tape
	now      instant
	inFlight int
	guard    time.Duration
	latency  time.Duration
	caution  float64 // the part of a limit that must be free, 0 to 1
}

// usable is what of a limit may be used up to.
func (s *scene) usable(limit float64) float64 { return max(limit*(1-s.caution), 1) }

// recent is the calls per second that were let in during the last ten seconds.
func (s *scene) recent() float64 {
	const span = 10 * time.Second
	n := len(s.sends)
	if n == 0 {
		return 0
	}
	age := min(max(s.now-s.sends[0].at, time.Second), span)
	return float64(s.upTo(n).maybe-s.upTo(s.seek(0, s.now-age)).maybe) / age.Seconds()
}

// verdict is what the evidence leaves of one counter: the highest value that was let in and the lowest that was turned away.
type verdict struct{ ok, ref float64 }

func unjudged() verdict { return verdict{ref: math.Inf(1)} }

func (v *verdict) admit(value float64)  { v.ok = max(v.ok, value) }
func (v *verdict) refuse(value float64) { v.ref = min(v.ref, value) }
func (v *verdict) alive() bool          { return v.ok < v.ref }

// limit is the highest whole value that no refusal forbids.
func (v *verdict) limit() float64 { return max(v.ref-1, 1) }

// tally is the counter that all laws of windows share: calls since some moment. Values are intervals, since calls closer than the
// guard may arrive in either order: one let in counts with the least value that any order allows, a refused one with the highest.
type tally struct {
	verdict
	harsh       bool // refused calls count too
	early, late int  // where the last search of the tape ended
}

// weigh judges a call by the calls since from. A window may have opened anywhere between the two moments.
func (c *tally) weigh(e *evidence, earliest, latest instant) {
	if e.refused() {
		c.early = e.seek(c.early, earliest)
		c.refuse(c.most(e.tape, c.early, e.through) + 1)
		return
	}
	c.late = e.seek(c.late, latest)
	c.admit(c.least(e.tape, c.late, e.before) + 1)
}

func (c *tally) most(t *tape, from, to int) float64 {
	a, b := t.upTo(min(from, to)), t.upTo(to)
	n := b.maybe - a.maybe
	if c.harsh {
		n += b.refused - a.refused
	}
	return float64(n)
}

func (c *tally) least(t *tape, from, to int) float64 {
	a, b := t.upTo(min(from, to)), t.upTo(to)
	n := b.sure - a.sure
	if c.harsh {
		n += b.refused - a.refused
	}
	return float64(n)
}

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

func (c *tally) forget() { c.verdict = unjudged() }
