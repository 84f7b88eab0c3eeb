package simulation

import (
	"time"

	"github.com/seed-18ca0a92/throttle/headers"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

// listed is the draft's list, which has room for several limits with names.
var listed = throttletest.Announce{Dialect: headers.RateLimitList}

// throughWindow is how long a call may wait for a fixed window: until the next edge, and as long as a call takes.
func throughWindow(w setting) time.Duration {
	turns := (w.workers + quota - 1) / quota // windows that those ahead in the queue fill
	return time.Duration(turns)*window + serviceMean + w.roundTrip()
}

// noWait is how long a call waits where nothing is short.
func noWait(setting) time.Duration { return 0 }

// throughBucket is how long a call may wait for a bucket: its turn among as many as there are workers, who come again as soon as they are
// answered, and the time of two units more.
func throughBucket(w setting) time.Duration {
	const unit = window / quota
	return max(0, time.Duration(w.workers)*unit-serviceMean-2*oneWay) + 2*unit
}
