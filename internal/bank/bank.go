package bank

import "time"

// Network is what is known of the way to the server. Its zero value is a network without jitter.
type Network struct {
	Guard   time.Duration // allowance for jitter: a third of the least round trip, 2 to 50 ms
	Latency time.Duration // typical time from a send to its answer; zero if unknown
}

// Bank holds the laws that a server may follow, and obeys the one that promises most. See New.
type Bank struct {
	clock  clock
	tape   tape
	reflex reflex
	net    Network

	laws   []*belief // none before the first refusal
	leak   *belief   // the one among them that looks closer by and by
	obeyed *belief   // the law in force, nil for none
	trial  trial
	ramp   ramp
	outage outage

	since     uint64   // the first call that is evidence
	refusedAt instant  // when the last refused call left
	extent    float64  // what the law in force left open when its refusal came
	saved     []func() // brings back what the laws knew before the last streak of refusals
	savedAt   uint64   // the first call that they had not judged then
	lapses    lapses
	streaks   streaks
	chance    bool // there were too many of them
	words     words

	present scene    // the scene last asked for
	exhibit evidence // the call under judgement
}

// New returns a Bank that has seen nothing. Before the first refusal it imposes nothing but a slow start of the calls in flight.
func New() *Bank {
	return &Bank{ramp: ramp{width: 1}, outage: outage{began: dawn}}
}

// Sent records a call that leaves now, and returns its id.
func (b *Bank) Sent(now time.Time) uint64 {
	t := b.clock.read(now)
	id := b.tape.add(t)
	kind := b.trial.sent(id, t)
	b.tape.last().cross = kind
	if kind == ask && b.obeyed != nil {
		b.obeyed.asked = b.obeyed.right
	}
	return id
}

// Admitted records that a call was let in, whatever else became of it.
func (b *Bank) Admitted(id uint64, now time.Time, net Network) {
	t := b.clock.read(now)
	b.net = net
	b.trial.answered(id)
	long := b.tape.index(id) < b.tape.aged
	s, ok := b.tape.close(id, admitted)
	if !ok {
		return
	}
	if !long {
		b.ramp.grow()
	}
	b.praise(s.cross, t)
	b.recover(s.at)
	b.think(t)
}

// Lost records that no answer will come, so that nobody knows whether the server counted the call.
func (b *Bank) Lost(id uint64, now time.Time) {
	b.think(b.clock.read(now))
	b.trial.answered(id)
	if s, ok := b.tape.close(id, lost); ok && s.cross != within {
		b.trial.boundary = true
	}
}

// Refused records that a call was turned away; told says that the server named the wait.
func (b *Bank) Refused(id uint64, now time.Time, wait time.Duration, told bool, net Network) {
	t := b.clock.read(now)
	b.net = net
	b.trial.answered(id)
	s, ok := b.tape.close(id, refused)
	if !ok {
		return
	}
	b.reflex.note(t - s.at)
	b.learn()
	if told {
		b.hear(id, s.at, t, wait)
	}
	if b.tape.index(id) < b.tape.judged {
		b.restart() // it had been presumed let in
	}
	b.refusedAt = max(b.refusedAt, s.at)
	b.blame(id, s, t)
	b.think(t)
}

// At is when the next call may leave, given how many are in flight; ask for it right before a call leaves, and again after every answer.
// If lone is set the call goes as a canary: until its answer, or until a refusal would be back, At lets no other leave. A moment about a
// century away means that only an answer can open the way.
func (b *Bank) At(now time.Time, inFlight int, net Network) (at time.Time, lone bool) {
	b.net = net
	t := b.clock.read(now)
	b.think(t)
	i, lone := b.when(t, inFlight)
	b.trial.lone = lone
	return b.clock.moment(i), lone
}

// when is At in instants.
func (b *Bank) when(now instant, inFlight int) (at instant, lone bool) {
	if over := b.canaryOver(); over > now {
		return over, false
	}
	if float64(b.tape.flying()-b.tape.slow) >= b.ramp.width && !b.agreed(now, inFlight) { // not inFlight: a body that still flows is no unanswered call
		return b.nextLong(), false
	}
	if due := b.due(); due > now {
		return due, false
	}
	if b.outage.until > now {
		return b.outage.until, true
	}
	if b.obeyed == nil {
		return now, b.outage.doubt
	}
	s := b.scene(now, inFlight)
	if b.outage.doubt {
		return b.probe(s), true
	}
	if b.trial.boundary {
		s.caution = b.obeyed.caution()
	}
	at = b.obeyed.at(s)
	if at > now {
		b.trial.wait(now, at)
		if ask := b.ask(at); ask < at {
			b.trial.asks = true
			return max(ask, now), true
		}
		if b.obeyed.windowed() {
			at = min(at, b.news(now))
		}
	}
	return at, b.trial.boundary && (b.obeyed.right < proofs || at == now && b.disputed(s))
}

// Hold is the hold that the Bank itself imposes, after refusals that no law explains and that carry no hint.
func (b *Bank) Hold(now time.Time) (until time.Time, ok bool) {
	t := b.clock.read(now)
	return b.clock.moment(b.outage.until), b.outage.until > t
}
