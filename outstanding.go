package throttle

import (
	"math"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/internal/mirror"
)

// outstanding foresees what the calls under way will yet be charged, of a bucket whose units are known only when a call has ended: the tokens of
// an answer. Reserving an estimate and giving back the rest is not enough there. The bucket gets back what was reserved too much all at once,
// and at the same time forgets, while it refills, what is still to be charged for calls under way: after a time of high estimates it lets
// go several times as many calls as the server can pay for, and the debt comes when they end.
//
// So, beside the reservations, calls under way may not use more, at what a call uses on average, than the server has now and gets back while
// such a call takes. A part of what it has is kept for calls that end sooner, or use more, than others.
type outstanding struct {
	mean  float64       // units that a call uses
	life  time.Duration // from its sending until what it has used is known
	ended int           // calls that taught this, up to outstandingWeight
}

// outstandingWeight smooths the mean use and life of calls: the last few dozen matter.
const outstandingWeight = 32

// learn takes in what a call has used, and how long it took. It makes o, which may be nil.
func (o *outstanding) learn(used float64, life time.Duration) *outstanding {
	if o == nil {
		o = &outstanding{mean: used, life: life}
	}
	o.ended = min(o.ended+1, outstandingWeight)
	o.mean += (used - o.mean) / outstandingWeight
	o.life += (life - o.life) / outstandingWeight
	return o
}

// foresees reports whether d is such a bucket. Requests are counted on arrival everywhere.
func (d *declared) foresees() bool {
	return d.ours.Algorithm == budget.TokenBucket && d.unit != budget.Requests
}

// foresee takes in what a call has used that was sent then.
func (d *declared) foresee(sent, now time.Time, used float64) {
	if !d.foresees() {
		return
	}
	if d.truth == nil {
		truth, err := budget.New(d.ours)
		if err != nil {
			return // it was checked before
		}
		d.truth, d.lane.foresees = truth, true
	}
	d.truth.Give(now, -used)
	d.outstanding = d.outstanding.learn(used, now.Sub(sent))
}

// stock is what the server has left by our own count.
func (d *declared) stock(now time.Time) mirror.Stock {
	return mirror.Stock{Left: d.ours.Burst - d.truth.State(now).Used, Rate: d.ours.Limit / d.ours.Window.Seconds(), Most: d.ours.Burst}
}

// foreseen is from when on n more units can be paid for beside what calls under way will use; no bound on when they can leave, since those may
// use less.
func (d *declared) foreseen(now time.Time, n float64) time.Time {
	if d.outstanding == nil {
		return time.Time{}
	}
	return d.outstanding.clears(now, n, d.stock(now), d.lane.underway(now, d.outstanding.life))
}

// overdrawn reports whether a refusal of n units comes as no surprise: the calls before have used more than was reserved for them.
func (d *declared) overdrawn(now time.Time, n float64) bool {
	return d.outstanding != nil && d.stock(now).Left < n
}

// foresee takes in what a call has used that was sent then, where the server counts that when it ends.
func (a *announced) foresee(sent, now time.Time, used float64) {
	if a.late && a.unit != budget.Requests {
		a.lane.foresees = true
		a.mirror.Use(now, used)
		a.outstanding = a.outstanding.learn(used, now.Sub(sent))
	}
}

// stock is what the server has left by what it has told, where it counts calls when they end and no declared limit counts them.
func (a *announced) stock(now time.Time) (s mirror.Stock, known bool) {
	if !a.late || a.known || a.outstanding == nil {
		return s, false
	}
	return a.mirror.Stock(now)
}

// foreseen is from when on n more units can be paid for beside what calls under way will use. The server must also have them; but when no call has
// left for as long as one takes, nothing tells what it has, and one may go and ask.
func (a *announced) foreseen(now time.Time, n float64) time.Time {
	s, known := a.stock(now)
	if !known {
		return time.Time{}
	}
	o := a.outstanding
	at := o.clears(now, n, s, a.lane.underway(now, o.life))
	if short := n - s.Left; short > 0 {
		at = latest(at, now.Add(s.After(short)))
	}
	if ask := a.mirror.Last().Add(o.life); ask.Before(at) {
		return ask
	}
	return at
}

// underway is how many calls are under way that will soon be charged, where they usually take so long.
func (l *lane) underway(now time.Time, life time.Duration) int {
	return l.flights.younger(now.Add(-longLived*life), true)
}

// longLived is from how many times the usual life on a call is no longer counted among those that will soon be charged: a stream may stay open for
// hours, and what the others wait for would never come.
const longLived = 4

// clears is from when on n units more can be paid for, with as many calls under way. With none there is nothing to foresee.
func (o *outstanding) clears(now time.Time, n float64, s mirror.Stock, underway int) time.Time {
	if underway == 0 {
		return time.Time{}
	}
	short := float64(underway)*o.likely() + n + o.reserve(s) - s.Left - s.Rate*o.life.Seconds()
	if short <= 0 {
		return time.Time{}
	}
	return now.Add(max(s.After(short), foresightStep))
}

// foresightStep is how soon the foresight is asked again at the least: it changes little by little.
const foresightStep = time.Millisecond

// likely is what a call under way will use. Those that end first are the short ones: as long as few have ended, the others may use double.
func (o *outstanding) likely() float64 { return o.mean * (2 - float64(o.ended)/outstandingWeight) }

// reserve is what is kept for chance. While a call takes, k = rate x life / mean of them end, give or take the root of k; answers whose lengths
// differ as much as they are long double the variance. Three deviations hold nearly all; more than half of the bucket is
// never kept.
func (o *outstanding) reserve(s mirror.Stock) float64 {
	return min(s.Most/2, 3*math.Sqrt(2*s.Rate*o.life.Seconds()*o.mean))
}
