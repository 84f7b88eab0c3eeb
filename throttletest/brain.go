package throttletest

import (
	"net/http"
	"time"
)

// Reason is why an arrival was answered as it was.
type Reason uint8

// The reasons.
const (
	Admitted  Reason = iota // by all limits
	OverLimit               // refused by a limit
	Banned                  // refused for hammering
	InOutage                // refused in an Outage
	Faulted                 // answered by a Fault
)

// refusal says whether the caller was refused.
func (r Reason) refusal() bool { return r == OverLimit || r == Banned || r == InOutage }

// brain decides. It is pure but for its state: time is an argument that never steps back, nothing sleeps, nothing locks.
type brain struct {
	*config
	begun     time.Time
	pools     map[place]*pool
	offenders map[string]*offender
	meter     concurrency // all calls inside; it has no limit
	ledger    ledger
}

// place is where a call counts.
type place struct {
	resource int
	key      string
}

func newBrain(c *config) *brain {
	return &brain{
		config:    c,
		pools:     map[place]*pool{},
		offenders: map[string]*offender{},
		ledger:    newLedger(c.logged),
	}
}

// verdict is what the server decided about one arrival.
type verdict struct {
	n       int
	reason  Reason
	status  int
	wait    time.Duration // that the refusal will state
	hinted  bool
	unit    string // that was short, of a refusal
	says    []announcement
	service time.Duration // from now until the answer begins
	at      time.Time
	stay    *stay // nil unless admitted
	pool    *pool
	fault   *Fault
}

// pool is the one in which a call counts.
func (b *brain) pool(k *call) *pool {
	at := place{k.resource, k.key}
	p := b.pools[at]
	if p == nil {
		p = newPool(b.resources[k.resource].limits, b.newForeigner(at), b.begun)
		b.pools[at] = p
	}
	return p
}

func (b *brain) offender(key string) *offender {
	o := b.offenders[key]
	if o == nil {
		o = &offender{}
		b.offenders[key] = o
	}
	return o
}

// arrive decides about the n-th call.
func (b *brain) arrive(now time.Time, n int, k *call, f *Fault) verdict {
	if b.begun.IsZero() {
		b.begun = now
	}
	p := b.pool(k)
	p.advance(now)
	v := verdict{n: n, at: now, pool: p, fault: f, status: http.StatusOK, service: k.service}
	b.decide(&v, now, k)
	if v.reason.refusal() {
		v.service = b.latency.Refusal
	}
	if f != nil {
		v.service += f.Delay
	}
	v.says = b.announce(p, now, v.reason.refusal(), k.draws.announce)
	b.ledger.note(&v, k)
	return v
}

// decide asks, in this order, the fault, the outages, the ban and the limits.
func (b *brain) decide(v *verdict, now time.Time, k *call) {
	if f := v.fault; f != nil && (f.Status != 0 || f.Reset) {
		v.reason, v.status = Faulted, f.status()
		if f.Charged {
			v.pool.take(now, k.charged, b.enter(v, now))
		}
		return
	}
	for _, o := range b.outages {
		if left, yes := o.covers(now.Sub(b.begun), k.outage); yes {
			v.refuse(InOutage, o.status(), left, o.Hint)
			return
		}
	}
	o := b.offender(k.key)
	if left := o.banned(b.ban, now); left > 0 {
		v.refuse(Banned, b.banStatus(), left, true)
		return
	}
	if short := v.pool.obstacle(now, k.needs); short != nil {
		b.overLimit(v, now, k, o, short)
		return
	}
	v.service += v.pool.take(now, k.charged, b.enter(v, now))
}

func (b *brain) overLimit(v *verdict, now time.Time, k *call, o *offender, short *obstacle) {
	v.refuse(OverLimit, b.refusal, short.wait, short.known)
	v.unit = short.unitOf()
	v.pool.refuse(now, k.charged)
	if o.refused(b.ban, now) {
		b.ledger.stats.Bans++
	}
}

func (v *verdict) refuse(why Reason, status int, wait time.Duration, hinted bool) {
	v.reason, v.status, v.wait, v.hinted = why, status, wait, hinted
}

func (b *brain) banStatus() int {
	if b.ban.Status == 0 {
		return b.refusal
	}
	return b.ban.Status
}

// enter opens the stay of a call.
func (b *brain) enter(v *verdict, now time.Time) *stay {
	v.stay = &stay{}
	b.meter.used(now)
	b.meter.take(now, 1, v.stay)
	b.ledger.opened(len(b.meter.stays))
	return v.stay
}

// leave ends the stay of a call at a moment that may lie ahead; a later word that it left sooner holds.
func (b *brain) leave(v *verdict, at time.Time) {
	if s := v.stay; s != nil && (s.end.IsZero() || at.Before(s.end)) {
		s.end = at
	}
}

// settle corrects what a call was charged, once it has ended.
func (b *brain) settle(now time.Time, v *verdict, k *call) {
	if v.reason == Admitted && k.used != nil {
		v.pool.advance(now)
		v.pool.settle(now, v.at, k.charged, k.used)
		b.ledger.spend(k.charged, -1)
		b.ledger.spend(k.used, 1)
		b.ledger.owe(v.pool)
		k.used = nil
	}
}
