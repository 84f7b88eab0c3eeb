package bank

import "time"

// reflex is how long refusals take to come back. A server turns a call away at once, so this is the network alone, and its spread is
// the network's jitter. The estimator is that of TCP (RFC 6298, section 2): a mean and a mean deviation, with gains of 1/8 and 1/4. But
// the deviation falls four times more slowly, as refusals are few and a guard that is too narrow costs more of them.
type reflex struct {
	mean, dev time.Duration
	least     time.Duration
	strained  bool // the guard was doubled because no law could explain what happened
}

func (r *reflex) note(rtt time.Duration) {
	if r.mean == 0 {
		r.mean, r.dev, r.least = rtt, rtt/8, rtt
		return
	}
	if err := max(rtt-r.mean, r.mean-rtt); err > r.dev {
		r.dev += (err - r.dev) / 4
	} else {
		r.dev -= (r.dev - err) / 16
	}
	r.mean += (rtt - r.mean) / 8
	r.least = min(r.least, rtt)
}

// patience is the age at which a call without an answer is presumed to have been let in: a refusal would be back.
func (r *reflex) patience() time.Duration {
	if r.mean == 0 {
		return firstPatience
	}
	return r.mean + max(4*r.dev, r.mean)
}

const (
	// firstPatience is the patience before the first refusal came back.
	firstPatience = time.Second
	// widestGuard bounds the guard: more than 100 ms of jitter is a stall, not a habit.
	widestGuard = 100 * time.Millisecond
	// spread is the jitter of one way, in deviations of a round trip.
	spread = 2.5
)

// guard is the allowance for jitter: the lane's, or what refusals have shown if that is more.
func (r *reflex) guard(lane time.Duration) time.Duration {
	guard := max(lane, time.Duration(spread*float64(r.dev)))
	if r.strained {
		guard *= 2
	}
	return max(lane, min(guard, widestGuard))
}
