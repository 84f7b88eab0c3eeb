package bank

import (
	"math"
	"slices"
)

// Rates that a leak is looked for in, in calls per second: from one in 100 s to what no single client of a public server needs.
const (
	slowestRate = 0.01
	fastestRate = 2000
)

// drips is how many rates are watched at a time. 64 of them first stand 21 % apart; when few are left, 64 others are spread over what
// they leave, until they stand 0.1 % apart.
const (
	drips      = 64
	finest     = 1.001
	narrow     = 1.02 // from here on the rate is known …
	belowKnown = 0.99 // … and the pace stays at so much of its low end, and creeps
	widest     = 16   // of a range that is wider, only the upper part is tried
	spreadBy   = 3.0  // look closer when the living cover less than the third part of the watched range
)

// drip is one rate of a leaking bucket. Its level is kept twice: as low and as high as the order of calls allows.
type drip struct {
	verdict
	rate      float64
	low, high float64
	busy      float64 // calls since the bucket was last empty: so long clocks had time to drift apart
}

// leak is a law that counts in a bucket that every call fills by one and that leaks at some rate: the token bucket, GCRA, and the
// leaky bucket are all this.
type leak struct {
	drips    []drip
	poured   instant // when the last call left that the levels count
	next     uint64  // the first call that they do not
	pacer    pacer
	lo, hi   int     // the drips that the evidence leaves
	dead     bool    // it leaves none
	moved    bool    // it leaves less than when somebody last looked closer
	creeping bool    // more is asked for than a known rate allows
	pace     float64 // the last rate that was tried
	cap      float64 // not to be exceeded until a slower one is known to be safe; zero for none
}

var _ law = (*leak)(nil)

func newLeak() *leak {
	l := &leak{}
	l.forget()
	return l
}

func (l *leak) forget() { l.watch(slowestRate, fastestRate) }

func (l *leak) save() (restore func()) {
	was := *l
	was.drips = slices.Clone(l.drips)
	return func() {
		was.pacer = l.pacer
		*l = was
	}
}

// watch starts over with rates between two bounds.
func (l *leak) watch(lo, hi float64) {
	l.drips = l.drips[:0]
	for k := range drips {
		rate := lo * math.Pow(hi/lo, float64(k)/(drips-1))
		l.drips = append(l.drips, drip{verdict: unjudged(), rate: rate})
	}
	l.poured, l.next = dawn, 0
	l.lo, l.hi, l.dead = 0, drips-1, false
}

// living is the range of rates that the evidence leaves, or that it left last.
func (l *leak) living() (lo, hi *drip) { return &l.drips[l.lo], &l.drips[l.hi] }

// shrink drops the rates at both ends that are dead. The last to die stay.
func (l *leak) shrink() {
	lo, hi := l.lo, l.hi
	for lo < hi && !l.drips[lo].alive() {
		lo++
	}
	for lo < hi && !l.drips[hi].alive() {
		hi--
	}
	dead := !l.drips[lo].alive()
	l.moved = l.moved || dead || lo != l.lo || hi != l.hi
	if l.dead = dead; !dead {
		l.lo, l.hi = lo, hi
	}
}

// surprise drops the rates beyond a gap, after a refusal that took nothing from the range. The fast ones there have a small burst, and
// live on calls that jitter may have thrown together.
func (l *leak) surprise() {
	hi := l.lo
	for hi < l.hi && l.drips[hi+1].alive() {
		hi++
	}
	l.hi = hi
}

func (l *leak) alive() bool { return !l.dead }

// outOfReach is how many times faster than calls leave a rate is too fast to be told from faster ones.
const outOfReach = 4

// closer looks at the living rates in more detail if that is worth a replay; it says whether one is due. If none is alive, the truth
// may lie between those that died last, unless they lay so close together that the rate was known: then it has changed.
// Rates far above any at which calls have left are of no account.
func (l *leak) closer(recent float64) bool {
	l.moved = false
	step := l.drips[1].rate / l.drips[0].rate
	if step <= finest || l.dead && l.known() {
		return false
	}
	lo, hi := l.living()
	left, right := lo.rate/step, min(hi.rate, max(outOfReach*recent, lo.rate*step))*step
	watched := l.drips[len(l.drips)-1].rate / l.drips[0].rate
	if math.Log(right/left)*spreadBy > math.Log(watched) {
		return false
	}
	l.watch(left, right)
	return true
}

// warmUp is how many calls before the first evidence fill the levels: a bucket is seldom empty when we begin to look.
const warmUp = 512

// judge counts a call on top of those that surely came before. Those that may have come before count against a refusal only, and the
// time between may be longer by two guards for a call that was let in.
func (l *leak) judge(e *evidence) {
	if l.poured == dawn {
		l.next = e.id(max(e.i-warmUp, 0))
	}
	for k := e.index(l.next); k < e.before; k++ {
		l.pour(e.sends[k].at, diff(e.upTo(k), e.sends[k]))
	}
	l.next = max(l.next, e.id(e.before))
	since := (e.at - e.guard - l.poured).Seconds()
	if e.refused() {
		l.refuse(since, float64(e.upTo(e.through).maybe-e.upTo(e.before).maybe), e.guard.Seconds())
		l.pacer.empty(e.at, e.id(e.i)+1)
		return
	}
	l.admit(since, e.guard.Seconds())
}

// heed drops rates at which one call would have leaked out before the server says that there is room for one.
func (l *leak) heed(e *evidence, h hint) {
	for k := l.lo; k <= l.hi; k++ {
		d := &l.drips[k]
		next := e.at + seconds(1/d.rate)
		d.denied = d.denied || h.rough && h.absurd(e.at, next) || !h.rough && next+2*e.guard < h.from
	}
	l.shrink()
}

// poured is the calls that one entry of the tape adds.
type pouredCalls struct{ sure, maybe float64 }

func diff(a, b send) pouredCalls {
	return pouredCalls{float64(b.sure - a.sure), float64(b.maybe - a.maybe)}
}

func (l *leak) pour(at instant, n pouredCalls) {
	since := (at - l.poured).Seconds()
	for k := l.lo; k <= l.hi; k++ {
		d := &l.drips[k]
		d.low = max(d.low-d.rate*since, 0) + n.sure
		if d.high -= d.rate * since; d.high <= 0 {
			d.high, d.busy = 0, 0
		}
		d.high += n.maybe
		d.busy += n.maybe
	}
	l.poured = at
}

// drift is how far a level may be off for every call: no two clocks, and no server's arithmetic, need agree better than that.
const drift = 0.0005

// fuzz is how many calls jitter may add to a level or take from it at most. With a guard of 50 ms no rate above 100/s could be told from any
// other if calls were free to gather as they like.
const fuzz = 4

func (l *leak) admit(since, guard float64) {
	for k := l.lo; k <= l.hi; k++ {
		d := &l.drips[k]
		if level := d.low - d.rate*(since+2*min(guard, fuzz/d.rate)); level > 0 {
			d.verdict.admit(level + 1 - drift*d.busy)
		} else {
			d.verdict.admit(1)
		}
	}
	l.shrink()
}

func (l *leak) refuse(since, near, guard float64) {
	for k := l.lo; k <= l.hi; k++ {
		d := &l.drips[k]
		level := math.Floor(near*min(1, fuzz/(d.rate*guard))) + 1
		if left := d.high - d.rate*since; left > 0 {
			level += left + drift*d.busy
		}
		d.verdict.refuse(level)
	}
	l.shrink()
}

// rate is what to try: a known rate from a little below, and else the middle of the range, but no more than twice the rate at which calls
// have left of late, nor less than the fastest could be worth.
func (l *leak) rate(s *scene) float64 {
	lo, hi := l.living()
	if l.known() {
		safe := belowKnown * lo.rate
		rate := l.pacer.creep(s.now, safe, hi.rate)
		l.creeping = rate > safe
		return rate
	}
	l.creeping = false
	middle := min(math.Sqrt(max(lo.rate, hi.rate/widest)*hi.rate), max(2*s.recent(), lo.rate))
	if lo.rate < 0.9*l.cap {
		middle = min(middle, l.cap)
	}
	return l.pacer.creep(s.now, middle, hi.rate)
}

// halve begins again below the rate that was refused.
func (l *leak) halve() { l.cap = l.pace / 2 }

// burst is how many calls may leave at once when the bucket is empty.
func (l *leak) burst(rate float64) float64 {
	best := 1.0
	for k := range l.drips {
		if d := &l.drips[k]; d.alive() {
			best = max(min(d.ok, d.ref), 1)
			if d.rate >= rate {
				break
			}
		}
	}
	return best
}

// known is whether the living rates lie so close together that the pace may stay at their low end.
func (l *leak) known() bool {
	lo, hi := l.living()
	return hi.rate < narrow*lo.rate
}

// extent is the ratio of the highest living rate to the lowest, and nothing while a known rate is exceeded on purpose.
func (l *leak) extent() float64 {
	if l.creeping {
		return 0
	}
	lo, hi := l.living()
	return hi.rate / lo.rate
}

// asking is always: a rate is known from where it ends.
func (l *leak) asking(*scene) bool { return true }

func (l *leak) windowed() bool { return false }

// promise is no more than the evidence leaves, or twice what was tried: a law that is not in force must not creep.
func (l *leak) promise(s *scene) float64 {
	_, hi := l.living()
	return min(l.rate(s), max(hi.rate, 2*s.recent()))
}

func (l *leak) at(s *scene) instant {
	l.pace = l.rate(s)
	return l.pacer.at(s, l.pace, l.burst(l.pace))
}

func (l *leak) state() State {
	lo, _ := l.living()
	return State{Kind: Leak, Limit: l.burst(lo.rate), Rate: lo.rate, Window: seconds(1 / lo.rate)}
}
