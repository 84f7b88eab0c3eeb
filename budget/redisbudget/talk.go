package redisbudget

import (
	"context"
	"math"
	"slices"
	"time"
)

// processLife is how long a process counts that does not ask: longer than any lease, and than most pauses in work.
const processLife = time.Minute

// request starts the goroutine that talks to Redis, unless it runs already. a.mu must be held.
func (a *account) request(now time.Time) {
	if !a.busy && (a.closed || a.mayTalk(now)) {
		a.busy = true
		go a.talk()
	}
}

// talk says what there is to say, and listens to the answers.
func (a *account) talk() {
	for {
		q, ok := a.next(a.store.now())
		if !ok {
			return
		}
		r, err := a.say(q)
		found := a.hear(q, r, err, a.store.now())
		a.store.company.spread(a, found)
		if err == nil {
			a.store.ear.join(a)
		}
		a.announce()
	}
}

// say is one question, and its answer. If that takes long the account goes on by itself meanwhile.
func (a *account) say(q *ask) (*reply, error) {
	watch := time.AfterFunc(a.store.timeout, func() { a.late(q.number) })
	defer watch.Stop()
	raw, err := a.store.script.run(context.Background(), a.store.client, a.names, q)
	if err != nil {
		return nil, err
	}
	r, err := parse(raw)
	if err == nil && len(r.seen) != len(a.policies) {
		return nil, errReply
	}
	return r, err
}

// poke sees to it that Redis is asked now, although nothing is wanted: whether it is there is in doubt. a.mu must be held.
func (a *account) poke(now time.Time) {
	a.poked = true
	a.request(now)
}

// next is what to say now, if anything. Nothing ends the talk.
func (a *account) next(now time.Time) (*ask, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lapse(now)
	if !a.mayTalk(now) {
		a.busy = false
		if a.closed {
			a.store.ear.part(a)
		}
		return nil, false
	}
	if a.outage != nil && !a.outage.breaker.claim(now) {
		a.busy = false // somebody else has just begun to
		a.arm(now.Add(probeMost))
		return nil, false
	}
	if a.slots > 0 {
		a.store.ear.note()
	}
	q := a.compose(now)
	a.asks++
	q.number, a.flying, a.sent = a.asks, true, now
	a.missed = max(0, a.missed-q.slots)
	a.slots, a.oldest, a.poked = 0, time.Time{}, false
	clear(a.back)
	return q, true
}

// compose says all that there is to say.
func (a *account) compose(now time.Time) *ask {
	q := &ask{
		policies: a.declared, opens: !a.view.opened, process: a.store.process, life: processLife,
		epoch: a.view.epoch, nonce: token(), remembers: a.view.remembers(now) || !a.absence.since.IsZero(),
		slots: a.slots, slotLife: a.slotLife(), guard: guard, horizon: a.horizon(),
		need: slices.Clone(a.need), more: slices.Clone(a.more), back: slices.Clone(a.back),
		spent: slices.Clone(a.absence.spent), own: a.own(now), memory: a.memory(now), trail: a.trail(now),
	}
	if a.closed {
		a.left, q.slots = true, 0
		if !a.store.company.uses(a.key) {
			q.life = -processLife
		}
	}
	if a.outage.on() {
		q.slots = 0 // a new connection takes longer than slots are good: they are asked for once it stands
	}
	if a.view.epoch != "" { // the clock that we know may be a round trip slow
		q.expires = a.view.server(now).Add(a.store.timeout + a.view.trip)
	}
	if a.store.least(a.view.live) > 1 && !a.absence.quiet {
		q.quiet = quietTime
	}
	if !a.resume.IsZero() {
		q.resumes, q.resumed = a.view.server(a.resume).Add(a.view.trip), a.resume // that clock may be a round trip slow
	}
	if a.slots > 0 {
		q.fair, _ = a.fairSize()
	}
	if !a.oldest.IsZero() {
		q.age = now.Sub(a.oldest)
	}
	if a.tell.After(now) {
		q.hold, q.tells = a.tell.Sub(now), a.tell
	}
	if !a.absence.since.IsZero() {
		q.away = max(time.Microsecond, now.Sub(a.absence.since))
	}
	return q
}

// mayTalk reports whether there is something to say, and somebody who may hear it.
func (a *account) mayTalk(now time.Time) bool {
	if a.closed {
		return !a.left && a.outage == nil && a.view.opened
	}
	wanted := a.slots > 0 || a.tell.After(now) || !a.resume.IsZero() || a.owes() || a.poked
	return wanted && a.outage.may(now)
}

// hear takes an answer in, or its absence.
func (a *account) hear(q *ask, r *reply, err error, now time.Time) (found finding) {
	a.mu.Lock()
	defer a.mu.Unlock()
	took := now.Sub(a.sent)
	if err == nil && took > a.store.timeout && a.outage != nil { // it is there, but still too slow
		err = errLate
	}
	if r != nil {
		a.learn(q, r, now, min(took, a.store.timeout))
	}
	if a.outage != nil && (err == nil || ofKey(err)) { // Redis has answered
		a.outage.breaker.mend()
		found = finding{what: cameBack}
	}
	if err != nil {
		err = a.explain(err)
		if away := a.fail(now, err, a.breaker(err)); away.what != nothingNew {
			found = away
		}
	} else if a.outage != nil {
		a.comeBack(now, r.quiet)
	}
	a.flying, a.news.changed = false, true
	return found
}

// learn takes in what an answer says.
func (a *account) learn(q *ask, r *reply, now time.Time, trip time.Duration) {
	if r.epoch != a.view.epoch {
		a.forget()
		a.heard = 0 // the new state may come from another clock
	}
	a.view.update(r, now, trip)
	a.doubted = time.Time{}
	a.store.live.Store(int64(r.live))
	if q.away > 0 {
		a.absence.over(q.spent, a.sent)
	}
	a.compare(r)
	if q.hold > 0 && a.tell.Equal(q.tells) {
		a.tell = time.Time{}
	}
	if a.resume.Equal(q.resumed) {
		a.resume = time.Time{}
	}
	a.hold(now, r.changed, r.hold)
	a.receive(q, r, now)
}

// receive puts slots into the pool.
func (a *account) receive(q *ask, r *reply, now time.Time) {
	for j, g := range r.slots {
		left := q.more
		if j == 0 {
			left = q.need
		}
		// The script ran after sent and before now: from now on the slot is not too early, and until then not too late.
		s := slot{due: now.Add(g.from), until: a.sent.Add(g.until), left: slices.Clone(left)}
		if s.until.Before(s.due) {
			a.returns(s) // the answer took longer than the slot lives
			continue
		}
		a.pool.add(s)
	}
	if a.closed {
		a.startOver()
		return
	}
	if len(r.slots) > 0 {
		a.arm(a.pool.last().Add(returnDelay))
	}
	a.tryAt, a.waitFor = time.Time{}, time.Time{}
	a.served = a.served && len(r.slots) == q.slots
	if r.wait > 0 {
		a.waitFor = now.Add(r.wait)
		a.tryAt = now.Add(max(r.wait-a.horizon(), min(retryLeast, a.horizon()/retryPart)))
		a.arm(a.tryAt)
	}
}

// hold is what a process learns of a hold that lasts d more, or that there is none any more. changed is when that was said; what is older
// than the newest that was heard tells nothing.
func (a *account) hold(now time.Time, changed float64, d time.Duration) {
	if math.Abs(changed) <= a.heard || !a.resume.IsZero() { // what is to be ended will be heard of when it was
		return
	}
	a.heard = math.Abs(changed)
	switch {
	case changed > 0:
		a.held = latest(a.tell, now.Add(d))
	case a.tell.IsZero():
		a.held, a.resumed = now, now
		a.startOver()
	}
}

// compare tells when another process has other limits.
func (a *account) compare(r *reply) {
	if r.declared == a.view.theirs {
		return
	}
	a.view.theirs = r.declared
	if r.declared == "" {
		a.news.add(nil)
		return
	}
	a.news.add(&LimitsError{Key: a.key, Ours: readable(a.declared), Theirs: readable(r.declared)})
}
