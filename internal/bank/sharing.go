package bank

import "time"

// Others draw on the quota if no law was left so often in so short a time, or with so few calls let in: who gets little of it is slow to
// notice. A server of our own alone changes its ways less often.
const (
	sharedAfter  = 3
	sharedWithin = 5 * time.Minute
	sharedCalls  = 800
	lapseCalls   = 32          // let in since the time before, or it is still the same trouble …
	lapsePause   = time.Minute // … unless it was long ago
)

// lapse is when no law was left, and how many calls had been let in by then.
type lapse struct {
	at    instant
	calls uint32
}

// lapses are the last few.
type lapses []lapse

// habit takes note of a lapse, unless it belongs to the one before; it says whether there were too many.
func (l *lapses) habit(now instant, calls uint32) bool {
	all := *l
	if n := len(all); n > 0 {
		if since := calls - all[n-1].calls; since < lapseCalls/4 || since < lapseCalls && now-all[n-1].at < lapsePause {
			return false
		}
	}
	all = append(all, lapse{now, calls})
	*l = all[max(len(all)-sharedAfter, 0):]
	first := (*l)[0]
	return len(*l) == sharedAfter && (now-first.at < sharedWithin || calls-first.calls < sharedCalls)
}

// Nor does any law explain a server that turns calls away as if by chance, since it has too much to do or others take what there is: who
// obeys a law is seldom turned away again before it has let in a good many calls.
const (
	chanceStreaks = 8
	chanceCalls   = 64
)

// streaks are the first calls of the last few streaks of refusals.
type streaks []uint64

// note takes note of one more; it says whether there were too many in so few calls.
func (s *streaks) note(id uint64) bool {
	all := append(*s, id)
	*s = all[max(len(all)-chanceStreaks, 0):]
	return len(*s) == chanceStreaks && id-(*s)[0] < chanceCalls
}

// sharing is whether a share is in force.
func (b *Bank) sharing() bool {
	_, ok := b.law().(*share)
	return ok
}

// share obeys the law of last resort, from the rate at which calls were let in of late.
func (b *Bank) share(now instant) *belief {
	s := b.scene(now, 0)
	h := &share{rate: max(shareCut*s.pace(time.Minute), shareCut*s.pace(5*time.Minute), leastShare), grown: now, cut: now, gap: longQuiet / quietTimes}
	h.pacer.empty(now, b.tape.next)
	if n := len(b.words.hints); n > 0 {
		h.word = b.words.hints[n-1].wait
		h.rate = max(h.rate, h.least())
	}
	b.begin()
	return &belief{law: h}
}

// A law is obeyed instead of a share when it has lived through so many refusals and promises clearly more. A window says more with each
// of them: for one, half as many do, and it need only promise about what was let in of late.
const (
	supported = 8
	better    = 1.2
)

// unshare looks for a law that explains what happened since the last one died, while a share is obeyed.
func (b *Bank) unshare(h *share, now instant) {
	best := b.best(now)
	if best == nil {
		b.begin()
		return
	}
	t, s := &b.tape, b.scene(now, 0)
	least, enough := better*h.rate, uint32(supported)
	if best.windowed() {
		least, enough = s.pace(5*time.Minute)/better, supported/2
	}
	refusals := t.upTo(t.judged).refused - t.upTo(b.oldest()).refused
	if refusals >= enough && best.promise(s) > least {
		b.obey(best, now)
	}
}

// begin drops all evidence.
func (b *Bank) begin() {
	b.since = b.tape.id(b.tape.judged)
	for _, l := range b.laws {
		l.fresh()
	}
	b.restart()
}
