package mirror

import (
	"math"
	"time"
)

// bucket is a quota that refills steadily. Its supply is a line through the newest answer. The zero value knows no rate.
type bucket struct {
	rate float64 // units a second that it refills at least

	supply float64 // the newest answer's lo,
	high   float64 // and its sureHi
	at     moment  // when that answer came
	sent   moment  // when its call left

	// An early height of the supply, the moment of the call that found it, and when its answer came. What the supply has risen
	// since shows the rate.
	low         float64
	lowAt, seen moment

	promise promise
	allow   allowance
}

// becomeBucket takes the server for a bucket from now on.
func (m *Mirror) becomeBucket(r *reading) {
	m.law = bucketLaw
	m.bucket.low, m.bucket.lowAt, m.bucket.seen = r.sureHi, r.sent, r.received
	m.learnBucket(r)
}

func (m *Mirror) learnBucket(r *reading) {
	b := &m.bucket
	if !r.counted {
		return
	}
	if beyond := r.sent >= b.at && b.high < m.sends.upTo(r.sent); beyond {
		b.promise.test(r)
		if r.refused && b.line(r.sent) >= m.sends.upTo(r.sent) && !m.others.present(r.received) {
			b.mistaken(r)
			m.filling = filling{} // what resets have shown is no longer true
		}
	}
	m.steepen(r)
	if m.tells(r) {
		b.supply, b.high, b.at, b.sent = r.lo, r.sureHi, r.received, r.sent
		b.promise.hear(r)
	}
	m.watch(r, r.lo, b.rate)
}

// tells says whether an answer knows better than the line. Of calls that were in the air together the highest answer counts,
// since each only counts what had surely arrived; unless others draw, for then the call that left last knows most.
func (m *Mirror) tells(r *reading) bool {
	b := &m.bucket
	if m.others.present(r.received) {
		return r.sent >= b.sent
	}
	return r.sent >= b.at || r.lo > b.line(r.received)
}

// mistaken makes the rate less after a refusal of a call that the line promised room for, and measures it anew.
func (b *bucket) mistaken(r *reading) {
	b.rate *= rateCut
	b.low, b.lowAt, b.seen = r.sureHi, r.sent, r.received
}

// rateCut is what a refusal leaves of a rate.
const rateCut = 0.5

// steepen raises the rate to what an answer shows it to be at least: the resets, and what the supply has risen. Both stay true
// when others draw; what the server charges less than we count looks like a rise too, which the resets bound.
func (m *Mirror) steepen(r *reading) {
	b := &m.bucket
	if dt := r.received - b.lowAt; dt > 0 && r.sent >= b.seen {
		b.rate = max(b.rate, (r.sureLo-b.low-m.deniedSince(b.lowAt))/secs(dt))
	}
	if m.filling.confirmed {
		b.rate = min(max(b.rate, m.filling.atLeast), m.filling.atMost)
	}
}

// line is the supply to be expected at t if nobody else draws.
func (b *bucket) line(t moment) float64 {
	return b.supply + b.rate*secs(max(0, t-b.at))
}

// overflow notes that a full bucket gains nothing more.
func (m *Mirror) overflow(t moment) {
	b := &m.bucket
	if most := m.sends.total + m.limit; m.law == bucketLaw && m.limit > 0 && b.line(t) > most {
		b.supply, b.at = most, t
		m.others.forget()
	}
}

// settle keeps a refund out of the level until an answer confirms it: not every server gives back.
func (b *bucket) settle(n float64) { b.supply -= max(0, n) }

// resize follows a limit that became by times as high. A rate that was a lower bound stays one only if it does not grow.
func (b *bucket) resize(by float64) {
	b.rate *= min(1, by)
	b.at, b.sent = 0, 0
	b.low, b.lowAt = math.Inf(1), 0
}

// whenBucket is when n units may leave: as soon as they are there, or, where others draw too, in proportion to the level.
func (m *Mirror) whenBucket(t moment, n, waiting float64, net Network) (at moment, lone bool) {
	b := &m.bucket
	kept := m.kept(n)
	allowed := m.allowed(t, n)
	need := m.sends.total + kept + n
	there := need <= b.supply
	if m.others.present(t) && b.rate > 0 {
		at = m.inProportion(t, n, kept, net)
		if !there && m.bound() {
			at = max(at, b.promise.to+net.Guard)
		}
		return max(at, allowed), false
	}
	if there || !m.bound() && waiting <= min(b.line(t), m.sends.total+m.limitOr())-need+n {
		return max(t, allowed), false
	}
	at, lone = m.whenRefilled(t, need, net)
	return max(at, allowed), lone
}

// bound says whether nothing comes back before the reset of the newest answer.
func (m *Mirror) bound() bool { return m.bucket.promise.binds() && !m.filling.confirmed }

// whenRefilled is when the supply reaches a height that no answer has shown yet.
func (m *Mirror) whenRefilled(t moment, height float64, net Network) (at moment, lone bool) {
	b := &m.bucket
	switch {
	case m.bound():
		return max(b.promise.to, m.refilledAt(height)) + net.Guard, true
	case b.rate > 0:
		return m.refilledAt(height) + net.Guard, false
	case m.aloft(t) > 0:
		return m.atAnswer(t, net), false
	default:
		return m.heard + probeEvery, true
	}
}

// refilledAt is when the line reaches a height; at once if its slope is not known.
func (m *Mirror) refilledAt(height float64) moment {
	b := &m.bucket
	if b.rate <= 0 {
		return b.at
	}
	return b.at + seconds((height-b.supply)/b.rate)
}

// limitOr is the limit, or no bound if none was told.
func (m *Mirror) limitOr() float64 {
	if m.limit > 0 {
		return m.limit
	}
	return math.Inf(1)
}

// allowedRate is what the cap leaves of the refill, or zero if it bounds nothing.
func (m *Mirror) allowedRate() float64 {
	if m.law != bucketLaw || m.cap <= 0 || m.limit <= m.cap {
		return 0
	}
	return m.bucket.rate * m.cap / m.limit
}

// allowance is a bucket of our own below the server's: the refill and the burst that a cap leaves us. It starts when the refill
// is first known.
type allowance struct {
	begun bool
	level float64
	at    moment
}

// flow brings the level up to t. What was spent before the start is missing from the burst.
func (a *allowance) flow(t moment, spent, rate, burst float64) {
	if !a.begun {
		a.begun, a.level, a.at = true, burst-spent, t
	}
	a.level = min(burst, a.level+rate*secs(max(0, t-a.at)))
	a.at = max(a.at, t)
}

// allowed is when the cap lets n more leave a bucket.
func (m *Mirror) allowed(t moment, n float64) moment {
	rate := m.allowedRate()
	if rate <= 0 {
		return t
	}
	a := &m.bucket.allow
	a.flow(t, m.sends.total, rate, m.cap)
	return t + seconds(max(0, n-a.level)/rate)
}

// spendAllowed takes n from what the cap leaves.
func (m *Mirror) spendAllowed(t moment, n float64) {
	if rate := m.allowedRate(); rate > 0 {
		m.bucket.allow.flow(t, m.sends.total, rate, m.cap)
		m.bucket.allow.level -= n
	}
}

// secs is d in seconds. Duration.Seconds takes several times as long, for digits that do not matter here.
func secs(d moment) float64 { return float64(d) * 1e-9 }

// seconds is s as a duration of at most 68 years either way.
func seconds(s float64) time.Duration {
	return time.Duration(max(-math.MaxInt32, min(s, math.MaxInt32)) * float64(time.Second))
}
