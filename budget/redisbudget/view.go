package redisbudget

import (
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// view is what an account knows of the shared state: what the newest answer said.
type view struct {
	epoch  string // empty before the first answer
	opened bool   // the policies are known there
	at     time.Time
	clock  time.Time // of the server, then
	ttl    time.Duration
	live   int
	seen   []sight
	most   []float64     // what each budget can ever hold
	trip   time.Duration // of a question and its answer: the slowest lately,
	usual  time.Duration // and what they usually take
	scarce bool          // the last slots were not to be had at once
	linger time.Duration // how long calls wait for others before they ask
	theirs string        // policies of another process that count instead of ours; empty for none
}

// tripFade is how fast one slow answer is forgotten.
const tripFade = 0.9

// usualLeast is what an answer may always take. Beyond it one that takes more than twice the usual, as over a new connection, is not usual: slots
// live for as long as answers take, which costs a log as much of its window.
const usualLeast = 5 * time.Millisecond

// update takes an answer in. A longest round trip counts until ten or twenty faster ones have come.
func (v *view) update(r *reply, received time.Time, trip time.Duration) {
	v.epoch, v.opened, v.at, v.clock, v.ttl, v.live, v.seen = r.epoch, true, received, r.server, r.ttl, r.live, r.seen
	v.linger = r.linger
	v.trip = max(trip, time.Duration(float64(v.trip)*tripFade))
	v.usual = max(min(trip, max(usualLeast, 2*v.usual)), time.Duration(float64(v.usual)*tripFade))
	if len(r.slots) > 0 || r.wait > 0 {
		v.scarce = len(r.slots) == 0 || r.slots[len(r.slots)-1].from > 0
	}
	for i, s := range r.seen {
		v.most[i] = s.most
	}
}

// server is what the server's clock says at now; the local one, before anything is known.
func (v *view) server(now time.Time) time.Time {
	if v.epoch == "" {
		return now
	}
	return v.clock.Add(now.Sub(v.at))
}

// remembers reports whether the state that was seen must still be there.
func (v *view) remembers(now time.Time) bool { return v.epoch != "" && now.Sub(v.at) < v.ttl }

// state describes a budget as it was seen.
func (v *view) state(i int, p budget.Policy, now time.Time) budget.State {
	s := budget.State{Limit: p.Limit, Window: p.Window, Available: v.most[i]}
	if v.epoch == "" || i >= len(v.seen) {
		return s
	}
	seen := v.seen[i]
	s.Used, s.Available = seen.used, seen.free
	if s.Used > 0 {
		s.Next = v.at.Add(seen.next)
		if s.Next.Before(now) {
			s.Next = now
		}
	}
	return s
}
