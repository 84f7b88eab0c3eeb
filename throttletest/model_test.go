package throttletest

import "time"

// taken is an admitted call in the book of a model. Models compute in whole numbers only.
type taken struct {
	at time.Time
	n  int64
}

// model says, from the whole history and in the slowest and plainest way, whether n units are admitted at now.
type model func(past []taken, now time.Time, n int64) bool

// dawn is when the histories of these tests begin.
var dawn = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// sum adds up what was taken at moments that count.
func sum(past []taken, counts func(time.Time) bool) (s int64) {
	for _, p := range past {
		if counts(p.at) {
			s += p.n
		}
	}
	return s
}

// index is the number of the clock window that holds t.
func index(t time.Time, window, phase time.Duration) int64 {
	return (t.UnixNano() - int64(phase)) / int64(window)
}

func fixedModel(limit int64, window, phase time.Duration) model {
	return func(past []taken, now time.Time, n int64) bool {
		here := index(now, window, phase)
		return n+sum(past, func(t time.Time) bool { return index(t, window, phase) == here }) <= limit
	}
}

func openedModel(limit int64, window time.Duration) model {
	return func(past []taken, now time.Time, n int64) bool {
		var open time.Time
		var used int64
		for _, p := range append(past[:len(past):len(past)], taken{now, n}) {
			if open.IsZero() || p.at.Sub(open) >= window {
				open, used = p.at, 0
			}
			used += p.n
		}
		return used <= limit
	}
}

func logModel(limit int64, window time.Duration) model {
	return func(past []taken, now time.Time, n int64) bool {
		return n+sum(past, func(t time.Time) bool { return now.Sub(t) < window }) <= limit
	}
}

func counterModel(limit int64, window, phase time.Duration) model {
	return func(past []taken, now time.Time, n int64) bool {
		here := index(now, window, phase)
		into := (now.UnixNano() - int64(phase)) % int64(window)
		before := sum(past, func(t time.Time) bool { return index(t, window, phase) == here-1 })
		current := sum(past, func(t time.Time) bool { return index(t, window, phase) == here })
		return before*(int64(window)-into)+(current+n)*int64(window) <= limit*int64(window)
	}
}

// bucketModel is the envelope of a bucket: in no span may more be admitted than its burst and what flows in meanwhile.
func bucketModel(limit int64, window time.Duration, burst int64) model {
	return func(past []taken, now time.Time, n int64) bool {
		if n > burst {
			return false
		}
		for i, used := len(past)-1, n; i >= 0; i-- {
			used += past[i].n
			if used*int64(window) > burst*int64(window)+limit*int64(now.Sub(past[i].at)) {
				return false
			}
		}
		return true
	}
}

func leakyModel(limit int64, window time.Duration, depth int64) model {
	each := window / time.Duration(limit)
	return func(past []taken, now time.Time, _ int64) bool {
		var idle time.Time
		for _, p := range past {
			if p.at.After(idle) {
				idle = p.at
			}
			idle = idle.Add(time.Duration(p.n) * each)
		}
		return idle.Sub(now) <= time.Duration(depth)*each
	}
}

// staying is how long every call of these histories is at the server.
const staying = 700 * time.Millisecond

func slotsModel(places int64) model {
	return func(past []taken, now time.Time, n int64) bool {
		return n+sum(past, func(t time.Time) bool { return t.Add(staying).After(now) }) <= places
	}
}

func both(a, b model) model {
	return func(past []taken, now time.Time, n int64) bool { return a(past, now, n) && b(past, now, n) }
}

// laws are the limits of these tests and their models.
func laws() map[string]struct {
	Limit
	model
} {
	type pair = struct {
		Limit
		model
	}
	const phase = 1300 * time.Millisecond
	return map[string]pair{
		"fixed window":    {FixedWindow(5, 2*time.Second), fixedModel(5, 2*time.Second, 0)},
		"with a phase":    {FixedWindow(5, 2*time.Second).WithPhase(phase), fixedModel(5, 2*time.Second, phase)},
		"opened window":   {OpenedWindow(5, 2*time.Second), openedModel(5, 2*time.Second)},
		"sliding log":     {SlidingLog(5, 2*time.Second), logModel(5, 2*time.Second)},
		"sliding counter": {SlidingCounter(5, 2*time.Second).WithPhase(phase), counterModel(5, 2*time.Second, phase)},
		"bucket":          {TokenBucket(7, 3*time.Second, 4), bucketModel(7, 3*time.Second, 4)},
		"full bucket":     {TokenBucket(6, 3*time.Second, 0), bucketModel(6, 3*time.Second, 6)},
		"burst of one":    {TokenBucket(3, time.Second, 1), bucketModel(3, time.Second, 1)},
		"leaky queue":     {LeakyQueue(4, time.Second, 3), leakyModel(4, time.Second, 3)},
		"no queue":        {LeakyQueue(4, time.Second, 0), leakyModel(4, time.Second, 0)},
		"concurrency":     {Concurrency(4), slotsModel(4)},
		"quantised": {
			Quantised(12, 4*time.Second, time.Second),
			both(fixedModel(3, time.Second, 0), fixedModel(12, 4*time.Second, 0)),
		},
	}
}
