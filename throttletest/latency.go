package throttletest

import "time"

// Latency is the time that a call takes without any limit. The zero Latency is an upstream that answers at once.
type Latency struct {
	// Network is one way; Jitter is added to it, drawn anew for every direction of every call, so that calls close together
	// may arrive, and their answers return, in another order.
	Network time.Duration
	Jitter  Dist
	// Service is the time from the arrival of an admitted call until its answer begins; PerToken is added to it for every token
	// of output (between the events of a stream, instead).
	Service  Dist
	PerToken time.Duration
	// Refusal is the service time of a refusal.
	Refusal time.Duration
}

func (l Latency) check() error {
	if err := l.Jitter.check("latency: jitter"); err != nil {
		return err
	}
	if err := l.Service.check("latency: service"); err != nil {
		return err
	}
	return notNegative("latency", l.Network, l.PerToken, l.Refusal)
}
