package redisbudget

import (
	"math"
	"time"
)

// pace is how many calls have left lately: a count that fades.
type pace struct {
	count     float64
	since, at time.Time // of the first and the last one
}

const (
	// paceTime is how fast it fades: several leases, so that their rhythm does not show.
	paceTime = 3 * time.Second
	// paceLeast is what the first calls count as the time of: they may have come at once.
	paceLeast = 300 * time.Millisecond
)

func (p *pace) add(now time.Time) {
	if p.since.IsZero() {
		p.since = now
	}
	p.count = p.count*p.fade(now.Sub(p.at)) + 1
	p.at = now
}

// fade is what is left of a count after some time.
func (p *pace) fade(d time.Duration) float64 {
	return math.Exp(-max(0, d.Seconds()) / paceTime.Seconds())
}

// rate is in calls per second.
func (p *pace) rate(now time.Time) float64 {
	if p.count == 0 {
		return 0
	}
	span := paceTime.Seconds() * (1 - p.fade(max(paceLeast, now.Sub(p.since))))
	return p.count * p.fade(now.Sub(p.at)) / span
}
