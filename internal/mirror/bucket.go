package mirror

import (
	"math"
	"time"
)

// bucket is a quota that refills steadily. Its level is a line through the newest answer. The zero value knows no rate.
type bucket struct {
	rate float64 // units a second it refills at least

	supply float64 // the newest answer's lo
	at     moment  // when that answer came
	sent   moment  // when its call left

	baseHi            float64 // an early sureHi, and when: supply has risen from it since
	baseAt, baseKnown moment
	measuring         bool
	m0, mOwn          float64
	mAt               moment
	share, drain      float64
	ref               float64
	refAt             moment
	foreign           moment // when others were last seen to draw
	drew              bool
}

// crowd is how long after others were seen to draw the whole level is not taken for ours.
const crowd = time.Minute

var thetaN = 8.0

func (m *Mirror) becomeBucket(r reading) {
	b := &m.buk
	m.law = bucketLaw
	b.sent = r.sent - 1
	if h := &m.win.high; !math.IsInf(h.settled, 1) {
		b.baseHi, b.baseAt, b.baseKnown = h.settled, h.at, h.settledAt
	} else {
		b.baseHi, b.baseAt, b.baseKnown = r.sureHi, r.sent, r.received
	}
	m.learnBucket(r)
}

func (m *Mirror) learnBucket(r reading) {
	b := &m.buk
	if !r.counted {
		return
	}
	m.steepen(r)
	if r.sent < b.sent {
		return
	}
	if b.refAt == 0 || r.sent-b.refAt > 10*time.Second {
		b.ref, b.refAt = r.lo, r.received
	}
	m.apportion(r)
	if r.hi < b.ref+b.rate*(r.sent-b.refAt).Seconds()-1 {
		b.foreign, b.drew = r.received, true
		b.ref, b.refAt = r.lo, r.received
	}
	b.supply, b.at, b.sent = r.lo, r.received, r.sent
}

// apportion measures how the refill is divided between us and others.
func (m *Mirror) apportion(r reading) {
	b := &m.buk
	if !b.measuring {
		b.measuring, b.m0, b.mAt, b.mOwn = true, r.lo, r.received, m.sends.total
		return
	}
	dt, own := r.received-b.mAt, m.sends.total-b.mOwn
	if b.share > 0 && dt < measureTime || own < measureOwn {
		return
	}
	others := max(0, b.rate*dt.Seconds()-(r.lo-b.m0))
	part, drain := own/(own+others), others/dt.Seconds()
	if b.share == 0 {
		b.share, b.drain = part, drain
	}
	b.share += (part - b.share) / 2
	b.drain += (drain - b.drain) / 2
	b.measuring = false
}

// steepen raises the rate to what an answer shows it to be at least.
func (m *Mirror) steepen(r reading) {
	b := &m.buk
	if m.fill.confirmed {
		b.rate = max(b.rate, m.fill.atLeast)
	}
	if dt := r.received - b.baseAt; dt > 0 && r.sent >= b.baseKnown {
		b.rate = max(b.rate, (r.sureLo-b.baseHi)/dt.Seconds())
	}
}

// line is the supply expected at t.
func (b *bucket) line(t moment) float64 {
	return b.supply + b.rate*max(0, t-b.at).Seconds()
}

// full notes that the bucket cannot hold more than its limit: what would have flowed in is lost.
func (b *bucket) top(t moment, most float64) {
	if b.line(t) > most {
		b.supply, b.at = most, t
		b.ref, b.refAt = most, t
		b.measuring = false
	}
}

func (b *bucket) settle(n float64) {
	if n > 0 {
		b.supply -= n
	}
}

func (b *bucket) scale(by float64) { b.rate *= min(1, by) }

// whenBucket paces in proportion to the level: every owner of a bucket sees the same level, so all end up with equal shares.
func (m *Mirror) whenBucket(t moment, n, waiting float64, net Network) (moment, bool) {
	b := &m.buk
	if alone := !b.drew || t-b.foreign > crowd; alone {
		level := min(b.line(t)-m.sends.total-m.reserve(), m.limitOr()-m.reserve())
		if waiting <= level {
			return t, false
		}
		if b.rate <= 0 {
			return m.whenStill(t, n, level, net)
		}
		return b.at + seconds((m.sends.total+m.reserve()+n-b.supply)/b.rate) + net.Guard, false
	}
	top := m.limitOr() - m.reserve()
	share := b.share
	if share == 0 {
		share = 0.5
	}
	slope := max(b.rate-b.drain, 0.05*b.rate)
	level := min(b.supply+slope*max(0, t-b.at).Seconds()-m.sends.total-m.reserve(), top)
	target := min(m.limitOr()/2, max(thetaN*n, 6*b.rate*net.Latency.Seconds()), (m.limitOr()-n)/2)
	w := math.Sqrt(share*math.Sqrt(share)) * b.rate
	wait := proportional(bucketAt{level - n, top - n, slope, max(0, t-m.last).Seconds(), target * n / w})
	return t + seconds(wait), false
}

// whenStill is for a bucket whose rate is not yet known.
func (m *Mirror) whenStill(t moment, n, level float64, net Network) (moment, bool) {
	switch {
	case n <= level:
		return t, false
	case m.flying() > 0:
		return t + net.answer(), false
	default:
		return m.probe(), true
	}
}

type bucketAt struct{ spare, top, rate, idle, weight float64 }

// proportional is how many seconds from now (idle + x) * (spare + rate*x) reaches weight, where the second factor ends
// at top.
func proportional(b bucketAt) float64 {
	if b.top <= 0 {
		return max(0, -b.spare/b.rate)
	}
	full := (b.top - b.spare) / b.rate
	p := (b.spare + b.idle*b.rate) / b.rate
	q := (b.idle*b.spare - b.weight) / b.rate
	x := -p/2 + math.Sqrt(max(0, p*p/4-q))
	if x > full {
		x = max(full, b.weight/b.top-b.idle)
	}
	return max(0, x, -b.spare/b.rate)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
