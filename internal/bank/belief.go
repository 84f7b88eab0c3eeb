package bank

import "math"

// belief is a law and how it has done.
type belief struct {
	law
	since       uint64 // the first call that is evidence for it
	run         int    // the same, whatever happened in between to the law itself
	right       int    // boundaries in a row at which the law named the moment and the call was let in
	asked       int    // what right was when the law was last asked after
	wrong       int    // boundaries in a row at which the call was turned away
	surprises   int    // refusals that took nothing from it
	established bool   // it has proved itself since it began
	found       bool   // a window with an edge that was seen, not named by the server
	discredited bool   // surprised too often: not obeyed any more, though no single answer contradicts it
}

// proofs is how often a law must have been right at a boundary before more than one call at a time follows it across.
const proofs = 2

// provenCalls is the same for a law whose every call waits: so many, and a rate that is known.
const provenCalls = 20

// So many boundaries in a row without a refusal make up for surprises: of a window, and of a law whose every call waits. A wrong rate can
// be refused once in a hundred calls and never be contradicted.
const (
	calmWindows = 8
	calmCalls   = 300
)

// credit takes note that the law was right at a boundary.
func (l *belief) credit() {
	l.right++
	l.run++
	l.wrong = 0
	if l.run >= calmCalls || l.windowed() && l.run >= calmWindows {
		l.surprises = 0
	}
	if l.known() && l.right >= proofs || l.right >= provenCalls {
		l.established = true
	}
}

// miss takes note that the law named a moment and the call was turned away.
func (l *belief) miss() {
	l.wrong++
	l.run = 0
	if l.windowed() {
		l.right = 0
	}
}

// tolerance is how many refusals in a row a law that asks may see before the server is doubted. Where others call too, it is nobody's
// fault to be late.
func (l *belief) tolerance() int {
	switch h, shared := l.law.(*share); {
	case !shared:
		return 1
	case h.word > 0:
		return math.MaxInt // the server says itself when to come back
	default:
		return 4
	}
}

// mayAsk is whether a call let in before its time speaks against the law.
func (l *belief) mayAsk() bool {
	_, shared := l.law.(*share)
	return !shared
}

// fresh drops all that the law was credited with.
func (l *belief) fresh() {
	l.right, l.asked, l.wrong, l.surprises, l.established, l.discredited = 0, 0, 0, 0, false, false
}

func (l *belief) living() bool { return !l.discredited && l.alive() }

// What a law must have free at first before it is tried: an eighth of its limit, or sixteen calls if that is less. What a log lets pass in the
// meantime is lost.
const (
	firstPart  = 1. / 8
	firstCalls = 16
)

// caution is the part of its limit that a law must have free before it is tried: at first that much, then half, three quarters …
// A wrong law about a short time would else be tried again and again while its counter falls call by call.
func (l *belief) caution() float64 {
	if l.right > 0 {
		return 0
	}
	return max(1-math.Pow(2, -float64(l.wrong)), min(firstPart, firstCalls/l.state().Limit))
}
