package throttletest

import (
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// Job is a number of equal calls, to be done as soon as possible.
type Job struct {
	Calls   int
	Workers int         // calls under way at once; 0 = as many as you like
	Start   time.Time   // when the first call is sent, which decides how much of a clock window is left; zero = now
	Cost    budget.Cost // of each call, as it is charged in the end; nil = one request
	// Service is the mean time of one call at the server; 0 = that of WithLatency and WithOutputTokens.
	Service  time.Duration
	Resource string // of WithResource
}

// Bound is the least time from the first send to the last answer in which the job can be done, by a client that knows everything
// and is never refused. It is found by playing that client against the limits, outages and foreign callers of the upstream, with
// mean latencies: each call arrives at the first moment at which a worker is free and all limits admit it. Since real latencies
// vary, a good run may be a little shorter, and so may one whose calls are charged when they end (ChargeUsed). It is false if some
// call can never be admitted.
//
// For a fixed window of Q per T, begun s before the start, K = ceil(Calls/Q) windows give (K-1)T - s and the time of what is
// left to do in the last; for a bucket it is (Calls-burst)/rate and one latency; for a concurrency limit C it is
// ceil(Calls/min(Workers, C)) service times, and a round trip for each that is due to the client.
func (u *Upstream) Bound(j Job) (least time.Duration, ok bool) {
	if j.Start.IsZero() {
		j.Start = time.Now()
	}
	ideal := u.config.ideal(j)
	ends := make([]time.Time, max(0, min(j.Workers, j.Calls))) // when each worker has its answer
	at, last := ideal.begun, j.Start
	for i := range j.Calls {
		if j.Workers > 0 && i >= j.Workers {
			if free := ends[i%j.Workers].Add(ideal.network); free.After(at) {
				at = free
			}
		}
		if at, ok = ideal.earliest(at); !ok {
			return 0, false
		}
		last = ideal.serve(at)
		if j.Workers > 0 {
			ends[i%j.Workers] = last
		}
	}
	return last.Sub(j.Start), true
}

// ideal is the client that knows everything. Calls that take equally long end in the order in which they began.
type ideal struct {
	*pool
	outages          []Outage
	cost             budget.Cost
	network, service time.Duration
}

func (c *config) ideal(j Job) *ideal {
	i := &ideal{outages: c.outages, cost: j.Cost, service: j.Service, network: c.latency.Network + c.latency.Jitter.Mean()}
	if i.service == 0 {
		i.service = c.latency.Service.Mean() + time.Duration(c.output.mean*float64(c.latency.PerToken))
	}
	at := len(c.resources) - 1
	for k, r := range c.resources[:at] {
		if r.name == j.Resource {
			at = k
			break
		}
	}
	i.pool = newPool(c.resources[at].limits, c.newForeigner(place{resource: at}), j.Start.Add(i.network))
	return i
}

// horizon ends the search: what is not admitted within ten years never is.
const horizon = 10 * 366 * 24 * time.Hour

// earliest is the first moment from at on at which a call is admitted.
func (i *ideal) earliest(at time.Time) (time.Time, bool) {
	for at.Sub(i.begun) < horizon {
		i.advance(at)
		if end, out := i.outage(at); out {
			at = end
			continue
		}
		o := i.obstacle(at, i.cost)
		if o == nil {
			return at, true
		}
		next, known := i.next(at, o)
		if !known {
			return at, false
		}
		at = next
	}
	return at, false
}

// next is when to look again: when the obstacle has passed, or a limit changes before that.
func (i *ideal) next(at time.Time, o *obstacle) (time.Time, bool) {
	passed := at.Add(max(1, o.wait))
	change, some := i.nextChange()
	if some && (!o.known || change.Before(passed)) {
		return change, true
	}
	return passed, o.known
}

// outage says whether all calls are refused at a moment, and until when.
func (i *ideal) outage(at time.Time) (end time.Time, yes bool) {
	for _, o := range i.outages {
		if left, yes := o.covers(at.Sub(i.begun), 0); yes && o.Share == 0 {
			return at.Add(left), true
		}
	}
	return at, false
}

// serve makes the call and says when its answer is there.
func (i *ideal) serve(at time.Time) time.Time {
	s := &stay{}
	s.end = at.Add(i.take(at, i.cost, s) + i.service)
	return s.end.Add(i.network)
}
