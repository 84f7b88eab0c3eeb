package bank

import "time"

// The hold after a refusal that no law explains: 1, 1.5, 2.25 … 60 s, one probe after each.
const (
	firstHold   = time.Second
	holdGrowth  = 1.5
	longestHold = time.Minute
)

// longStreak is how many refusals in a row, each of a call that waited for the one before, look like an outage after the fact.
const longStreak = 3

// outage tells a server that turns everything away from a law that was wrong. The first refusal under a law in good standing is set
// aside: if a probe after a hold is let in, the law was wrong; if not, the server is.
type outage struct {
	streak int           // refusals in a row, each of a call that left after the one before was known
	first  uint64        // the first call of the streak
	start  instant       // when its refusal came
	began  instant       // when the last one came: calls that left before are part of what happened then
	right  int           // how often in a row the law had been right when the streak began
	doubt  bool          // refusals are set aside
	hold   time.Duration // our own hold
	holds  int           // how many there were in a row
	until  instant       // when it ends
	asked  int           // how many of them were calls sent to see whether the law is right
	last   uint64        // the first call of the streak before
	lasted int           // the length of that
}

// refused takes note of a refusal; it says whether the call left after the last refusal was known.
func (o *outage) refused(at, now instant, kind crossing) (again bool) {
	if at <= o.began {
		return false
	}
	if o.streak == 0 {
		o.start = now
	}
	o.began = now
	o.streak++
	if kind == ask {
		o.asked++
	}
	return true
}

// extend starts the next hold.
func (o *outage) extend(now instant) {
	o.hold = min(max(time.Duration(float64(o.hold)*holdGrowth), firstHold), longestHold)
	o.until = now + o.hold
	o.holds++
}

// ask is when to send a call although a law that has not proved itself forbids it from one moment to another: if it forbids more than a
// minute at once, 5 s after the last refusal, then 15, 45, 135 … That bounds how long a wrong law is obeyed.
func (o *outage) ask(since, until instant) instant {
	if until <= since+firstDoubt {
		return until
	}
	wait := soon
	for range o.asked {
		wait *= 3
	}
	return max(since, o.began) + wait
}

// over ends the streak.
func (o *outage) over() {
	o.last, o.lasted = o.first, o.streak
	o.streak, o.hold, o.holds, o.asked, o.doubt = 0, 0, 0, 0, false
	o.until = dawn
}

// farBelow is how many times less the laws that are left promise if an outage is no less likely: nobody is refused for an hour who was let
// in each minute until now.
const farBelow = 10

// surprising is whether the first refusal of a streak killed a law that had proved itself, or one that was right once and leaves none or
// only such as promise far less. A server that names waits says which law it is.
func (b *Bank) surprising(now instant) bool {
	o := &b.outage
	if o.streak != 1 || o.doubt || b.obeyed == nil || b.obeyed.alive() || o.right == 0 {
		return false
	}
	if o.right >= proofs {
		return true
	}
	best, s := b.best(now), b.scene(now, 0)
	return best == nil || !b.words.believed() && farBelow*best.promise(s) < b.obeyed.promise(s)
}

// doubt sets the refusals of the streak aside, and holds until a probe may tell what they were. Those that a share met were expected, and
// stay evidence.
func (b *Bank) doubt(now instant) {
	o := &b.outage
	if b.sharing() && !o.doubt {
		o.first = b.tape.next // nothing before is set aside
	}
	o.doubt = true
	o.extend(now)
	b.excuse()
}

// probe is when to find out whether an outage is over: at once, but not before the window in force lets a call leave, if that is soon. A quota
// that is used up would look like the outage.
func (b *Bank) probe(s *scene) instant {
	if at := b.obeyed.at(s); b.obeyed.windowed() && b.obeyed.living() && at > s.now && at < b.outage.began+longestHold {
		return at
	}
	return s.now
}

// recover ends an outage when a call was let in that left after it began. If already the first one was, and soon, there was no outage:
// the law was wrong. If it left late, since the server had named a long wait, nobody knows; the law has to prove itself again.
func (b *Bank) recover(at instant) {
	o := &b.outage
	if at <= o.began || o.streak == 0 {
		return
	}
	if o.doubt {
		if o.holds == 1 && at-o.began < 2*firstHold {
			b.accuse()
			b.surprise()
		}
		if b.obeyed != nil {
			b.obeyed.right, b.obeyed.wrong = 0, 0 // the probes that were refused were not its fault
			b.trial.boundary, b.trial.since = true, 0
			b.ramp.restart()
		}
	}
	o.over()
}

// excuse sets every refusal of the streak aside.
func (b *Bank) excuse() { b.relabel(refused, excused) }

// accuse turns the refusals of the streak into evidence after all.
func (b *Bank) accuse() { b.relabel(excused, refused) }

func (b *Bank) relabel(from, to outcome) {
	judged := false
	for i := b.tape.index(b.outage.first); i < len(b.tape.sends); i++ {
		if s := &b.tape.sends[i]; s.outcome == from {
			s.outcome = to
			judged = judged || i < b.tape.judged
		}
	}
	if judged {
		b.rewind()
	}
}

// save remembers what the laws know, before a streak of refusals becomes evidence.
func (b *Bank) save() {
	b.saved, b.savedAt = b.saved[:0], b.tape.id(b.tape.judged)
	for _, l := range b.laws {
		b.saved = append(b.saved, l.save())
	}
}

// rewind brings back what the laws knew before the streak, and judges anew what came then.
func (b *Bank) rewind() {
	if b.saved == nil {
		b.restart()
		return
	}
	for _, restore := range b.saved {
		restore()
	}
	b.rejudge(b.laws, b.savedAt)
}
