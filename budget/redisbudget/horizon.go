package redisbudget

import "time"

const (
	// horizon is how far ahead slots are reserved. Further ones would be lost on callers who give up meanwhile.
	horizon = 30 * time.Second
	// horizonPart bounds that for a window or a log: 1/4 of it. Once slots of the next window are handed out, nobody can have those of this one any
	// more that come back.
	horizonPart = 4
	// retryLeast is the least time between two asks when slots are beyond the horizon,
	retryLeast = time.Second
	// or this part of the horizon, if that is less.
	retryPart = 4
)

// horizon is how far ahead slots are asked for.
func (a *account) horizon() time.Duration {
	d := horizon
	for _, p := range a.policies {
		if !isBucket(p) {
			d = min(d, p.Window/horizonPart)
		}
	}
	return d
}
