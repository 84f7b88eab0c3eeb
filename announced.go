package throttle

import (
	"math"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
	"github.com/seed-18ca0a92/throttle/internal/mirror"
)

// mostMirrors bounds the quotas that are learned per key: no API announces as many, a broken or hostile server might.
const mostMirrors = 32

// silence is how long a quota that is no longer announced is still believed, in answers without a word of it: some servers tell their limits
// only now and then.
const silence = 100

// announced is a limit as the server's answers show it.
type announced struct {
	meterName
	lane   *lane
	id     quotaID
	mirror *mirror.Mirror
	apart  bool          // one of several resources of the host: it concerns only the calls that go to it
	beside bool          // seen in one answer with another quota of its unit: it concerns all calls
	limit  float64       // as last announced; 0 = never
	silent int           // answers in a row that did not name it
	window time.Duration // as last believed
	proven bool          // and the answers have shown it
	heard  time.Time     // when it was last told

	maker uint64 // the order of the call whose answer told of it first
	first uint64 // of the first call that left when it was known
	joint uint64 // of the last call that took from it before it was known to stand apart
	late  bool   // the server counts calls when they end

	steady bool // and it is known for a bucket
	known  bool // and a declared limit counts the same unit

	told *headers.Quota // what the answer says of it that is being read; nil = nothing

	outstanding *outstanding // what calls under way will yet be charged; nil while none has been settled, or they are charged on arrival
}

// quotaID tells the quotas of a key apart.
type quotaID struct {
	unit, name, partition string
	window                time.Duration
}

func (a *announced) what() *meterName { return &a.meterName }

// ready asks the mirror. Where the server counts a call when it ends, no Remaining holds what is under way. What is declared, whose own count does, is
// believed instead, and else what is foreseen.
func (a *announced) ready(now time.Time, n, waiting float64) (time.Time, bool, bool) {
	if _, foreseen := a.stock(now); foreseen || a.late && a.known {
		return time.Time{}, false, true
	}
	at, alone, ever := a.mirror.At(now, n, waiting, a.network())
	if !ever && now.Sub(a.heard) >= max(a.window, askAgain) {
		return now, true, true
	}
	return at, alone, ever
}

// askAgain is how long a limit is believed that no call fits into, at least: while nothing is sent, nobody tells that it has changed.
const askAgain = time.Minute

func (a *announced) take(now, _ time.Time, n float64)  { a.mirror.Spend(now, n) }
func (a *announced) give(_, now time.Time, n float64)  { a.mirror.Settle(now, n) }
func (a *announced) amend(_, now time.Time, n float64) { a.mirror.Amend(now, n) }
func (a *announced) state(now time.Time) budget.State  { return a.mirror.State(now) }

// spent reports whether the mirror has counted what a call took when it left, or, if it was under way then already, when it was made.
func (a *announced) spent(t *ticket) bool {
	switch {
	case t.order == a.maker:
		return true
	case t.order < a.first:
		return a.unit == budget.Requests && !t.mute
	}
	return t.order <= a.joint || a.covers(t.class)
}

func (a *announced) network() mirror.Network {
	return mirror.Network{Guard: a.lane.net.over(a.window, generous), Latency: a.lane.net.latency}
}

// read tells every mirror what an answer said of its quota, makes mirrors for quotas not met before, and reports whether a budget came,
// went, or has a new limit.
func (l *lane) read(w *waiter, a *answer) (news bool) {
	places, news := l.match(w, a)
	news = l.limitFlights(places) || news
	news = l.separate(w, a) || news
	for i := 0; i < len(l.mirrors); i++ {
		m := l.mirrors[i]
		news = m.hear(w, a) || news
		if m.silent > silence {
			l.mirrors = append(l.mirrors[:i], l.mirrors[i+1:]...)
			i--
			news = true
		}
	}
	if news {
		l.pair()
		_ = l.resort() // cannot fail, nor can the next: they declare nothing new
		_ = l.reassemble()
	}
	return news
}

// match gives each quota of an answer to its mirror, which may have to be made, and finds the least cap on calls in flight.
func (l *lane) match(w *waiter, a *answer) (places float64, news bool) {
	places = math.Inf(1)
	for i := range a.report.Quotas {
		q := &a.report.Quotas[i]
		if q.Unit == flightsUnit {
			places = min(places, placesOf(q))
			continue
		}
		m := l.mirrorOf(q)
		if m == nil {
			m = l.meet(w, a, q)
			news = news || m != nil
		}
		if m != nil && m.told == nil {
			m.told = q
		}
	}
	return places, news
}

// mirrorOf is the mirror of a quota; nil = there is none yet.
func (l *lane) mirrorOf(q *headers.Quota) *announced {
	for _, m := range l.mirrors {
		if m.id.of(q) {
			return m
		}
	}
	return nil
}

// meet makes a mirror for a quota that the key has none of yet, unless there are too many. A limit alone is nothing to go by: nobody knows in what time
// it comes back.
func (l *lane) meet(w *waiter, a *answer, q *headers.Quota) *announced {
	useful := q.Remaining.Known || q.Limit.Known && (q.Reset.Known || q.Window.Known)
	if !useful || len(l.mirrors) == mostMirrors {
		return nil
	}
	m := &announced{meterName: meterName{name: q.Name, unit: q.Unit, source: SourceServer}, lane: l, id: idOf(q), maker: w.order, first: l.sends + 1, mirror: mirror.New(a.sent)}
	m.mirror.Spend(a.sent, w.cost.of(q.Unit))
	if others := l.open - l.permits; others > 0 && q.Unit == budget.Requests {
		m.mirror.Spend(a.received, float64(others)) // under way too, and nobody knows in what order they arrive
	}
	l.mirrors = append(l.mirrors, m)
	return m
}

// flightsUnit is the unit of a cap on calls in flight (draft-ietf-httpapi-ratelimit-headers-10; Sentry). It comes back with each answer and not
// with time, so there is nothing to mirror.
const flightsUnit = "concurrent-requests"

// placesOf is how many calls in flight a quota of that unit allows; no bound if it does not say.
func placesOf(q *headers.Quota) float64 {
	if !q.Limit.Known || q.Limit.Value < 1 {
		return math.Inf(1)
	}
	return q.Limit.Value
}

// limitFlights adopts the least of the caps on calls in flight that an answer tells, but none above the configured one, and gives it up when it
// is told no more.
func (l *lane) limitFlights(told float64) (news bool) {
	most := int64(l.cfg.maxInFlight)
	switch l.placesSilent++; {
	case !math.IsInf(told, 1):
		l.placesSilent = 0
		if places := int64(max(min(told, math.MaxInt32)*l.cfg.share, 1)); most == 0 || places < most {
			most = places
		}
	case l.placesSilent <= silence || l.places.Load() == most: // almost always
		return false
	}
	return l.places.Swap(most) != most
}

func idOf(q *headers.Quota) quotaID { return quotaID{q.Unit, q.Name, q.Partition, q.Window.Value} }

// of reports whether q is the quota of this id.
func (id *quotaID) of(q *headers.Quota) bool {
	return id.unit == q.Unit && id.window == q.Window.Value && id.name == q.Name && id.partition == q.Partition
}

// hear tells the mirror what an answer said of its quota, which may be nothing.
func (m *announced) hear(w *waiter, a *answer) (news bool) {
	q, spent := m.told, m.spent(w.ticket)
	m.told = nil
	switch {
	case q == nil && !spent:
		return false // a call to another resource
	case q != nil && !spent:
		m.mirror.Spend(a.sent, w.cost.of(m.unit)) // it went elsewhere than was expected
	}
	heard := mirror.Answer{Sent: a.sent, Received: a.received, Cost: w.cost.of(m.unit), Refused: a.kind == refused}
	m.silent++
	if q != nil {
		heard.Quota, m.silent, m.heard = *q, 0, a.received
		if q.Limit.Known && q.Limit.Value != m.limit {
			m.limit, news = q.Limit.Value, true
		}
	}
	m.mirror.Learn(heard, m.network())
	if q == nil && m.apart {
		m.mirror.Settle(a.received, w.cost.of(m.unit))
	}
	window, _ := m.mirror.Window()
	proven, late, steady := m.mirror.Proven(), m.mirror.Late(), m.mirror.LateBucket()
	if window != m.window || proven != m.proven || late != m.late || steady != m.steady {
		m.window, m.proven, m.late, m.steady, news = window, proven, late, steady, true
	}
	return news
}

// lostAnswer tells every mirror that a call is under way no longer, though no answer came.
func (l *lane) lostAnswer(t *ticket, now time.Time) {
	for _, m := range l.mirrors {
		if !m.spent(t) {
			continue
		}
		m.mirror.Learn(mirror.Answer{Sent: t.left, Received: now, Cost: t.cost.of(m.unit)}, m.network())
	}
}

// explained reports whether a refusal needs no hold, because some mirror knew that too little was left.
func (l *lane) explained(w *waiter, now time.Time) bool {
	for _, m := range l.mirrors {
		if w.cost.of(m.unit) > 0 && m.mirror.Explains(now, w.cost.of(m.unit)) {
			return true
		}
	}
	return l.overdrawn(w, now)
}

// overdrawn reports whether calls have used more of a declared unit than was reserved, and left too little of it.
func (l *lane) overdrawn(w *waiter, now time.Time) bool {
	for _, m := range w.class.meters {
		if d, ok := m.(*declared); ok && d.overdrawn(now, w.cost.of(d.unit)) {
			return true
		}
	}
	return false
}

// count notes whether costs beyond requests matter: while no answer has come, nobody knows.
func (l *lane) count() {
	matter := !l.answered
	for _, c := range l.order {
		for _, m := range c.meters {
			matter = matter || m.what().unit != budget.Requests
		}
		for _, s := range c.shared {
			for _, p := range s.policies {
				matter = matter || p.Resolve().Unit != budget.Requests
			}
		}
	}
	l.units.Store(matter)
}

// countsUnits reports whether costs beyond requests matter.
func (l *lane) countsUnits() bool { return l.units.Load() || l.weighted.Load() }
