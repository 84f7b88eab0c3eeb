package throttle

import (
	"math"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// outstanding foresees what the calls under way will yet be charged, of a bucket whose units are known only when a call has ended: the tokens of
// an answer. Reserving an estimate and giving back the rest is not enough there. The bucket gets back what was reserved too much all at once,
// and at the same time forgets, while it refills, what is still to be charged for calls under way: after a time of high estimates it lets
// go several times as many calls as the server can pay for, and the debt comes when they end.
//
// So, beside the reservations, calls under way may not use more, at what a call uses on average, than the server has now and gets back while
// such a call takes. A part of what it has is kept for calls that end sooner, or use more, than others.
type outstanding struct {
	truth budget.Budget // what the server has counted: charged with what each call has used, when it ended
	burst float64       // units that it holds at most
	rate  float64       // units that come back, per second
	mean  float64       // units that a call uses
	life  time.Duration // from its sending until what it has used is known
	ended int           // calls that taught this, up to outstandingWeight
}

// outstandingWeight smooths the mean use and life of calls: the last few dozen matter.
const outstandingWeight = 32

// foresees reports whether d is such a bucket. Requests are counted on arrival everywhere.
func (d *declared) foresees() bool {
	return d.ours.Algorithm == budget.TokenBucket && d.unit != budget.Requests
}

// foresee takes in what a call has used that was sent then.
func (d *declared) foresee(sent, now time.Time, used float64) {
	if !d.foresees() {
		return
	}
	if d.outstanding == nil {
		truth, err := budget.New(d.ours)
		if err != nil {
			return // it was checked before
		}
		d.lane.foresees = true
		d.outstanding = &outstanding{truth: truth, burst: d.ours.Burst, rate: d.ours.Limit / d.ours.Window.Seconds(), mean: used, life: now.Sub(sent)}
	}
	o := d.outstanding
	o.truth.Give(now, -used)
	o.ended = min(o.ended+1, outstandingWeight)
	o.mean += (used - o.mean) / outstandingWeight
	o.life += (now.Sub(sent) - o.life) / outstandingWeight
}

// foreseen is from when on n more units can be paid for beside what calls under way will use; no bound on when they can leave, since those may
// use less.
func (d *declared) foreseen(now time.Time, n float64) time.Time {
	o := d.outstanding
	return o.clears(now, n, d.lane.flights.younger(now.Add(-longLived*o.life), d.unit != budget.Requests))
}

// longLived is from how many times the usual life on a call is no longer counted among those that will soon be charged: a stream may stay open for
// hours, and what the others wait for would never come.
const longLived = 4

// clears is from when on n units more can be paid for, with as many calls under way. With none there is nothing to foresee.
func (o *outstanding) clears(now time.Time, n float64, underway int) time.Time {
	if o == nil || underway == 0 {
		return time.Time{}
	}
	short := float64(underway)*o.likely() + n + o.reserve() - o.has(now) - o.rate*o.life.Seconds()
	if short <= 0 {
		return time.Time{}
	}
	return now.Add(max(time.Duration(short/o.rate*float64(time.Second)), foresightStep))
}

// foresightStep is how soon the foresight is asked again at the least: it changes little by little.
const foresightStep = time.Millisecond

// likely is what a call under way will use. Those that end first are the short ones: as long as few have ended, the others may use double.
func (o *outstanding) likely() float64 { return o.mean * (2 - float64(o.ended)/outstandingWeight) }

// reserve is what is kept for chance. While a call takes, k = rate x life / mean of them end, give or take the root of k; answers whose lengths
// differ as much as they are long double the variance. Three deviations hold nearly all; more than half of the bucket is
// never kept.
func (o *outstanding) reserve() float64 {
	return min(o.burst/2, 3*math.Sqrt(2*o.rate*o.life.Seconds()*o.mean))
}

// has is what the server has left; below zero it is in debt.
func (o *outstanding) has(now time.Time) float64 { return o.burst - o.truth.State(now).Used }

// explains reports whether a refusal of n units comes as no surprise: the calls before have used more than was reserved for them.
func (o *outstanding) explains(now time.Time, n float64) bool { return o != nil && o.has(now) < n }
