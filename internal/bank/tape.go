package bank

import "sort"

// outcome is what became of a call.
type outcome uint8

const (
	pending  outcome = iota // no answer yet
	admitted                // let in
	refused                 // turned away
	lost                    // no answer will come: nobody knows whether the server counted it
	excused                 // turned away in an outage: says nothing about any law
)

// send is one call of ours. The four totals are cumulative, this call included, so that the number of calls in any stretch of time is
// one subtraction, and dropping old entries loses resolution but no calls.
type send struct {
	at      instant
	sure    uint32 // let in for certain
	maybe   uint32 // let in, perhaps let in, or still under way
	refused uint32 // turned away
	done    uint32 // calls let in, or lost, that had ended when this call left
	outcome outcome
	cross   crossing
}

// tapeSize bounds the memory of calls: 12 288 × 32 bytes = 384 KiB.
const tapeSize = 12288

// tape is the memory of our own calls, oldest first.
type tape struct {
	sends   []send
	next    uint64 // id of the next call
	done    uint32 // calls let in, or lost, that have ended
	whole   int    // sends[whole:] are single calls, sends[:whole] were thinned
	settled int    // sends[:settled] have their final sure; what is still pending there is presumed let in
	judged  int    // sends[:judged] were taken as evidence
	aged    int    // sends[:aged] left long ago, or have an answer
	slow    int    // those of them that have none
}

// add records a call that leaves, and returns its id.
func (t *tape) add(now instant) uint64 {
	if len(t.sends) == tapeSize {
		t.thin()
	}
	s := send{at: now, done: t.done}
	if n := len(t.sends); n > 0 {
		s.at = max(now, t.sends[n-1].at)
		s.sure, s.maybe, s.refused = t.sends[n-1].sure, t.sends[n-1].maybe, t.sends[n-1].refused
	}
	s.maybe++
	t.sends = append(t.sends, s)
	t.next++
	return t.next - 1
}

// thin drops every second call of the older half.
func (t *tape) thin() {
	const kept = tapeSize / 4
	for i := range kept {
		t.sends[i] = t.sends[2*i+1]
	}
	t.sends = append(t.sends[:kept], t.sends[2*kept:]...)
	moved := func(i int) int { return max(i-kept, min(i/2, kept)) }
	t.settled, t.judged, t.aged, t.whole = moved(t.settled), moved(t.judged), moved(t.aged), kept
}

// close records the outcome of a pending call. It is false for a call that was answered already, or that is too old to be told apart from
// its neighbours.
func (t *tape) close(id uint64, o outcome) (s send, ok bool) {
	if id >= t.next {
		return s, false
	}
	i := len(t.sends) - int(t.next-id)
	if i < t.whole {
		t.done++ // it counts as let in
		t.slow = max(t.slow-1, 0)
		return s, false
	}
	if t.sends[i].outcome != pending {
		return s, false
	}
	if i < t.aged {
		t.slow--
	}
	t.answer(i, o)
	return t.sends[i], true
}

// index is where a call stands, or where single calls begin if it stands before.
func (t *tape) index(id uint64) int {
	return max(len(t.sends)-int(t.next-min(id, t.next)), t.whole)
}

// id is the inverse of index.
func (t *tape) id(i int) uint64 { return t.next - uint64(len(t.sends)-i) }

// flying is how many calls have no answer.
func (t *tape) flying() int { return int(t.upTo(len(t.sends)).maybe - t.done) }

// answer puts an outcome into the totals.
func (t *tape) answer(i int, o outcome) {
	t.sends[i].outcome = o
	if o != refused {
		t.done++
	}
	if o == refused {
		for k := i; k < len(t.sends); k++ {
			t.sends[k].maybe--
			t.sends[k].refused++
		}
	}
	if o != admitted {
		for k := i; k < t.settled; k++ {
			t.sends[k].sure--
		}
	}
}

// settle fixes the next call's place among those that were let in.
func (t *tape) settle() {
	s := &t.sends[t.settled]
	s.sure = 0
	if t.settled > 0 {
		s.sure = t.sends[t.settled-1].sure
	}
	if s.outcome == admitted || s.outcome == pending {
		s.sure++
	}
	t.settled++
}

// seek returns how many calls had left by x. It looks near hint first: the answers of neighbours are neighbours.
func (t *tape) seek(hint int, x instant) int {
	const near = 16
	i, n := min(hint, len(t.sends)), len(t.sends)
	for range near {
		switch {
		case i < n && t.sends[i].at <= x:
			i++
		case i > 0 && t.sends[i-1].at > x:
			i--
		default:
			return i
		}
	}
	return sort.Search(n, func(k int) bool { return t.sends[k].at > x })
}

// last is the call that left last.
func (t *tape) last() *send { return &t.sends[len(t.sends)-1] }

// upTo is the totals of the first n calls on the tape.
func (t *tape) upTo(n int) send {
	if n == 0 {
		return send{}
	}
	return t.sends[n-1]
}
