package mirror

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/seed-18ca0a92/throttle/headers"
)

// A form is how a server tells its verdict: which numbers, and how rounded.
type form func(v verdict, t time.Duration, r *rand.Rand) headers.Quota

func tell(v verdict) headers.Quota {
	return headers.Quota{Unit: "requests", Limit: headers.Some(v.limit), Remaining: headers.Some(v.left)}
}

// wholeSeconds tells the reset in seconds from now, rounded by f.
func wholeSeconds(f func(float64) float64) form {
	return func(v verdict, _ time.Duration, _ *rand.Rand) headers.Quota {
		q := tell(v)
		q.Reset = headers.Some(seconds(f(v.reset.Seconds())))
		q.Grain = time.Second
		return q
	}
}

func millis(v verdict, _ time.Duration, _ *rand.Rand) headers.Quota {
	q := tell(v)
	q.Reset = headers.Some(v.reset.Round(time.Millisecond))
	return q
}

// wholeEpoch tells the moment of the reset in Unix seconds, by a clock that is off by skew; the reader subtracts the Date of
// the same answer, which is truncated to the second.
func wholeEpoch(skew time.Duration, f func(float64) float64) form {
	return func(v verdict, t time.Duration, _ *rand.Rand) headers.Quota {
		clock := (t + skew).Seconds()
		reset := f(clock+v.reset.Seconds()) - math.Floor(clock)
		q := tell(v)
		q.Reset = headers.Some(seconds(max(0, reset)))
		q.Grain = 2 * time.Second
		return q
	}
}

// sometimes drops the limit from most answers, and every header from a third of them.
func sometimes(f form) form {
	return func(v verdict, t time.Duration, r *rand.Rand) headers.Quota {
		q := f(v, t, r)
		if r.Float64() < 0.8 {
			q.Limit = headers.Maybe[float64]{}
		}
		if r.Float64() < 0.33 {
			return headers.Quota{}
		}
		return q
	}
}
