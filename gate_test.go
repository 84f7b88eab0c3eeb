package throttle

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-18ca0a92/throttle/budget"
)

// How long the first call takes nobody knows: those behind it who have less time than it may have are not refused for that.
func TestALoneStartRefusesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		s.latency = 100 * time.Millisecond
		cl, _ := client(t, s, WithPolicies(budget.PerMinute(100)), WithMaxWait(loneStart/2))
		flood(t, cl, 100, api)
		assert.Less(t, time.Since(s.start), time.Second)
	})
}

// What they have to wait for in any case is another matter.
func TestALoneStartHidesNoQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		s.latency = 100 * time.Millisecond
		cl, _ := client(t, s, WithPolicies(budget.PerMinute(100)), WithMaxWait(loneStart/2))
		var wg sync.WaitGroup
		refused := make(chan error, 150)
		for range 150 {
			wg.Go(func() {
				if _, _, err := get(cl, api); err != nil {
					assert.ErrorIs(t, err, ErrMaxWait)
					assert.Zero(t, time.Since(s.start), "told at once")
					refused <- err
				}
			})
		}
		wg.Wait()
		assert.Len(t, refused, 50)
	})
}
