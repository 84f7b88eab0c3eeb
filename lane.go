package throttle

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
	"github.com/seed-18ca0a92/throttle/internal/bank"
)

// lane is where the calls of one key wait, and everything they wait for. Nobody is given a time in advance: whenever something changes
// (the timer, an answer, a hold, a settled cost, a slot that comes back, a head that is cancelled) the lane looks again who may go.
type lane struct {
	key string
	cfg *config
	all *total // the slots of all lanes together

	parked bool          // waits for one of those; guarded by all.mu
	shape  headers.Shape // of the server's answers
	// weighted says that the cost function has given some call another weight than one request.
	weighted     atomic.Bool
	crowded      atomic.Bool  // somebody waits
	asks         atomic.Bool  // its policies are to be set anew: by the policy function, or because a change has failed
	units        atomic.Bool  // costs beyond requests matter: some budget counts them, or nobody knows yet
	places       atomic.Int64 // calls in flight at most, as configured or, if fewer, announced; 0 = any number; it changes under mu
	placesSilent int          // answers in a row that told no cap; guarded by mu
	born         time.Time
	intake       intake
	ample        atomic.Int64 // answers that come within this time after born need not be read; it changes under mu

	mu      sync.Mutex // taken by lock
	classes map[classID]*class
	order   []*class // the same, to walk
	claims  []claim  // of the current pick
	heads   []*class // likewise
	waiting int
	seq     uint64 // of the newest arrival
	sends   uint64 // calls that have left
	ampleAt place  // to which

	ofKey     []*declared
	byRoute   map[int][]*declared
	shared    map[string]*declared // those with a name
	mirrors   []*announced
	resources resources
	bank      *bank.Bank      // nil while something is announced, or declared and believed
	doubts    float64         // refusals that speak against what is declared
	doubted   time.Time       // when the last of them was counted
	curbed    bool            // the bank has put a call off since the last answer
	account   *shared         // the key's budgets in a store; nil without one
	accounts  map[int]*shared // likewise those of its routes
	foresees  bool            // some budget reckons with what calls under way will use

	net      network
	hold     hold
	braced   time.Time // until when a refusal is being read, at most
	gate     gate
	flights  flights
	open     int         // calls sent whose answers have not come, and permits in hand
	permits  int         // the latter alone
	answered bool        // an answer has come
	header   http.Header // of the newest refusal, a copy
	retries  retryBudget
	outage   outage

	timer   *time.Timer
	alarm   time.Time // when it fires; zero = not set
	lastUse time.Time
	gone    bool // evicted or closed: its calls must find another
}

// never is later than every moment that a budget names.
var never = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

func newLane(key string, cfg *config, all *total, policies []budget.Policy, now time.Time) (*lane, error) {
	l := &lane{key: key, cfg: cfg, all: all, born: now, lastUse: now, classes: map[classID]*class{}, byRoute: map[int][]*declared{}, shared: map[string]*declared{}}
	var err error
	if cfg.store != nil {
		l.accounts = map[int]*shared{}
		if len(policies) > 0 {
			l.account, err = l.share(key, policies)
		}
	} else {
		l.ofKey, err = l.declareAll(policies)
	}
	if err != nil {
		return nil, err
	}
	if _, err = l.newClass(classID{}); err != nil {
		return nil, err
	}
	l.units.Store(true)
	l.places.Store(int64(cfg.maxInFlight))
	if len(policies) == 0 {
		l.bank = bank.New()
	}
	// One call goes first, since others may have drawn on the quota already. A lane with nothing but an in-flight cap needs no such
	// care: its slots are its own.
	if len(policies) > 0 || len(cfg.routes) > 0 || cfg.maxInFlight == 0 {
		l.gate.close()
	}
	return l, nil
}

// enter returns once w may be sent. An error means that nothing was spent and nothing is to be given back.
func (l *lane) enter(ctx context.Context, w *waiter) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if entered, err := l.come(w); entered || err != nil {
		return err
	}
	return l.wait(ctx, w)
}

// come admits w if it need not wait, and else queues it, or refuses it at once. What it does is done by functions one after the other, for the sake of a
// crowd whose stacks a deeper way would let grow.
func (l *lane) come(w *waiter) (entered bool, err error) {
	var ready chan struct{}
	if l.crowded.Load() {
		if l.joins(w) {
			return false, nil
		}
		ready = newReady() // not under the lock: a crowd would wait for the memory
	}
	l.lock()
	now := time.Now() // not before: many may stand at the lock
	entered, err = l.tryEnter(w, now)
	if !entered && err == nil {
		entered, err = l.lineUp(w, now, ready)
	}
	if w.queued() {
		err = l.stay(w, now)
	}
	l.mu.Unlock()
	return entered, err
}

// newReady is what a waiter is told by that it may go, or that it may not.
func newReady() chan struct{} { return make(chan struct{}, 1) }

// tryEnter admits w if it need not wait.
func (l *lane) tryEnter(w *waiter, now time.Time) (entered bool, err error) {
	if l.gone {
		return false, errGone
	}
	if w.class, err = l.classOf(w); err != nil {
		return false, err
	}
	l.lastUse = now
	w.start, w.heldAt = now, l.hold.clock(now)
	if w.bypass {
		l.pass(w, now)
		return true, nil
	}
	if l.waiting > 0 {
		return false, nil
	}
	r := ruling{ever: true}
	l.judge(&r, w, now)
	return r.ever && !r.at.After(now) && l.admit(w, &r, now), nil
}

// pass admits a call that never waits.
func (l *lane) pass(w *waiter, now time.Time) {
	if len(l.cfg.observers) > 0 {
		r := l.rule(w, now)
		w.spared = &r
	}
	l.all.force()
	l.spend(w, &ruling{at: now}, now)
}

// lineUp queues w; ready may be nil.
func (l *lane) lineUp(w *waiter, now time.Time, ready chan struct{}) (entered bool, err error) {
	if w.ready = ready; ready == nil {
		w.ready = newReady()
	}
	l.push(w)
	if !l.idleUntilAlarm(w, now) {
		l.pump(now)
	}
	if w.queued() {
		return false, nil
	}
	w.ready = nil // it need not wait
	return w.err == nil, w.err
}

// stay lets w, which has just been queued, wait, or refuses it at once.
func (l *lane) stay(w *waiter, now time.Time) error {
	err := l.review(w, now)
	if err != nil {
		w.ready = nil
		l.drop(w)
		l.pump(now)
	}
	return err
}

// review is why w, which has just been queued, need not wait; nil = it may, and then it notes what for.
func (l *lane) review(w *waiter, now time.Time) error {
	r := ruling{ever: true}
	l.judge(&r, w, now)
	err := l.full(w)
	if err == nil {
		err = l.refuse(w, &r, now)
	}
	if r.at.After(now) {
		w.waitsFor(&r)
	}
	return err
}

// errGone says that the lane was evicted between look-up and entry.
var errGone = errors.New("throttle: lane is gone")

// push queues w.
func (l *lane) push(w *waiter) {
	l.seq++
	w.seq = l.seq
	w.cause, w.by = CauseQueue, ""
	w.class.queue.push(w)
	l.waiting++
	l.crowded.Store(true)
	l.ample.Store(0) // who waits wants to know what is left
}

// drop takes w out of the queue.
func (l *lane) drop(w *waiter) {
	w.class.queue.remove(w)
	if l.waiting--; l.waiting == 0 {
		l.crowded.Store(false)
	}
}

// wait blocks until w is admitted or refused, its context ends, or its max wait is over.
func (l *lane) wait(ctx context.Context, w *waiter) error {
	if w.maxWait > 0 {
		return l.waitAtMost(ctx, w)
	}
	select {
	case <-w.ready:
		return w.err
	case <-ctx.Done():
		return l.abandon(w, ctx.Err())
	}
}

// waitAtMost is wait for those that have a max wait.
func (l *lane) waitAtMost(ctx context.Context, w *waiter) error {
	limit := time.NewTimer(w.maxWait)
	defer limit.Stop()
	select {
	case <-w.ready:
		return w.err
	case <-ctx.Done():
		return l.abandon(w, ctx.Err())
	case <-limit.C:
		return l.abandon(w, ErrMaxWait)
	}
}

// abandon takes back a call that waits no longer. If it was admitted in the same moment, what it took is given back: it leaves no trace.
func (l *lane) abandon(w *waiter, reason error) error {
	l.lock()
	now := time.Now()
	if reason == ErrMaxWait {
		l.pump(now) // who may wait until now may go now
	}
	undone := false
	switch {
	case w.queued():
		if reason == ErrMaxWait || reason == context.DeadlineExceeded {
			r := l.rule(w, now)
			reason = l.limitError(w, &r, now, reason)
		}
		w.held = l.heldOf(w, now)
		l.quit(w, now)
	case w.err != nil: // it was refused in this moment
		<-w.ready
		reason = w.err
	case reason == ErrMaxWait: // it was admitted in this moment
		<-w.ready
		reason = nil
	default: // likewise, but nobody wants it any more
		<-w.ready
		undone = true
		l.undo(w.ticket, now)
		l.pump(now)
	}
	l.mu.Unlock()
	if undone {
		l.all.give()
	}
	return reason
}

// quit takes w, which gives up, out of the queue. Far back in a queue that nobody else counts, nothing else changes by that.
func (l *lane) quit(w *waiter, now time.Time) {
	matters := len(l.mirrors) > 0 || len(w.class.shared) > 0 || w.class.queue.near(w)
	l.drop(w)
	if matters {
		l.pump(now)
	}
}

// admit takes everything that a newcomer needs, all or nothing, and reports whether it could.
func (l *lane) admit(w *waiter, r *ruling, now time.Time) bool {
	if !l.all.take(l) {
		return false
	}
	r.at = now
	l.spend(w, r, now)
	return true
}

// spend books w as sent. It was due at r.at.
func (l *lane) spend(w *waiter, r *ruling, now time.Time) {
	for _, m := range w.class.meters {
		if n := w.cost.of(m.what().unit); n != 0 {
			m.take(now, r.at, n)
		}
	}
	for _, a := range w.class.shared {
		a.account.Take(now, w.cost.whole())
	}
	l.sends++
	w.order, w.left = l.sends, now
	w.flight = l.flights.start(now, w.cost.costly())
	w.open = true
	l.open++
	if w.mute {
		l.permits++
	}
	if l.blind(w) {
		w.bankID = 1 + l.bank.Sent(now)
	}
	if !w.again {
		l.retries.deposit()
	}
	if r.alone && !w.mute {
		l.gate.send(now, w.ticket)
	}
	w.generation = l.hold.generation
	w.held = l.heldOf(w, now)
}

// undo takes back a call that was admitted and never sent.
func (l *lane) undo(t *ticket, now time.Time) {
	for m := range l.taken(t) {
		if n := t.cost.of(m.what().unit); n != 0 {
			m.amend(t.left, now, n)
		}
	}
	for _, a := range t.class.shared {
		a.account.Give(now, t.cost.whole())
	}
	l.land(t)
	l.disappear(t, now)
}

// taken is every budget that has counted what a call cost. That is not what the class of it has now: mirrors may have come, or been found to stand
// apart, since it left.
func (l *lane) taken(t *ticket) iter.Seq[meter] {
	return func(yield func(meter) bool) {
		for _, m := range t.class.meters {
			if d, ok := m.(*declared); ok && d.counted(t) && !yield(d) {
				return
			}
		}
		for _, m := range l.mirrors {
			if m.spent(t) && !yield(m) {
				return
			}
		}
	}
}

// disappear tells whoever waits for the answer of a call that none will come.
func (l *lane) disappear(t *ticket, now time.Time) {
	l.gate.lost(t)
	if l.bank != nil && t.bankID != 0 {
		l.bank.Lost(t.bankID-1, now)
	}
	t.bankID = 0
}
