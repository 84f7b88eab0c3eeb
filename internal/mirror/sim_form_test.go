package mirror

import (
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
