package throttletest

import (
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheBoundIsReachedWithoutARefusal lets a client that follows the ideal schedule do a job on the real round tripper, with
// workers, latencies and all: it takes as long as Bound says, and nobody is refused.
func TestTheBoundIsReachedWithoutARefusal(t *testing.T) {
	calm := Latency{Network: 50 * time.Millisecond, Service: Constant(staying)}
	for name, c := range laws() {
		for _, workers := range []int{1, 3, 16} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					time.Sleep(777 * time.Millisecond) // some way into a window
					u := NewUpstream(WithLimits(c.Limit), WithLatency(calm))
					job := Job{Calls: 50, Workers: workers, Start: time.Now()}
					follow(t, u, job)
					took := time.Since(job.Start)
					least, ok := u.Bound(job)
					require.True(t, ok)
					assert.InDelta(t, least, took, float64(time.Millisecond))
					s := u.Stats()
					assert.Equal(t, Count{Arrivals: 50, Admitted: 50}, s.Count)
					assert.LessOrEqual(t, s.PeakOpen, workers)
				})
			})
		}
	}
}

// follow sends every call when the ideal client would, from a worker that must be free by then.
func follow(t *testing.T, u *Upstream, j Job) {
	ideal := u.config.ideal(j)
	free := make(chan struct{}, j.Workers)
	ends := make([]time.Time, j.Workers)
	at := ideal.begun
	var wg sync.WaitGroup
	for i := range j.Calls {
		if ready := ends[i%j.Workers].Add(ideal.network); ready.After(at) {
			at = ready
		}
		at, _ = ideal.earliest(at)
		ends[i%j.Workers] = ideal.serve(at)
		// A microsecond later than ideal, as the schedule counts on a worker being free at the very moment.
		time.Sleep(time.Until(at.Add(time.Duration(i+1)*time.Microsecond - ideal.network)))
		select {
		case free <- struct{}{}:
		default:
			require.Fail(t, "no worker is free")
		}
		wg.Go(func() {
			defer func() { <-free }()
			resp, err := u.RoundTrip(mustGet())
			if assert.NoError(t, err) {
				assert.Equal(t, 200, closed(resp))
			}
		})
	}
	wg.Wait()
}

func mustGet() *http.Request {
	r, err := http.NewRequest(http.MethodGet, "http://api.example/", nil)
	if err != nil {
		panic(err) // the address is a constant
	}
	return r
}
