package throttle

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

// CON-03: whoever waits for one thing holds nothing else meanwhile.
func TestNothingScarceIsHeldWhileWaiting(t *testing.T) {
	inBubble(t, []Option{WithMaxInFlightTotal(2), WithPolicies(budget.PerMinute(100))}, func(t *testing.T, tr *Transport) {
		tr.Hold("a", time.Minute)
		a := make(chan time.Duration, 5)
		for range 5 {
			go func() {
				if p, err := tr.Acquire(t.Context(), Call{Key: "a"}); err == nil {
					a <- time.Since(epoch)
					p.Done()
				}
			}()
		}
		synctest.Wait()
		for range 10 {
			p, at := take(t, tr, Call{Key: "b"})
			assert.Zero(t, at)
			p.Done()
		}
		one, _ := take(t, tr, Call{Key: "b"})
		two, _ := take(t, tr, Call{Key: "b"})
		next := race(t, tr, 3, Call{}) // for a slot
		time.Sleep(time.Second)
		assert.Equal(t, 100.0, available(t, tr, ""), "who waits for a slot has taken no units")
		one.Cancel()
		for range 3 {
			assert.Equal(t, time.Second, next())
		}
		two.Done()
		for range 5 {
			assert.Equal(t, time.Minute, <-a)
		}
	})
}

func TestInFlightCaps(t *testing.T) {
	inBubble(t, []Option{WithMaxInFlight(3), WithMaxInFlightTotal(5)}, func(t *testing.T, tr *Transport) {
		var mu sync.Mutex
		var wg sync.WaitGroup
		now, most := map[string]int{}, map[string]int{}
		count := func(key string, by int) {
			mu.Lock()
			defer mu.Unlock()
			for _, k := range []string{key, "all"} {
				now[k] += by
				most[k] = max(most[k], now[k])
			}
		}
		for i := range 120 {
			key := []string{"a", "b", "c"}[i%3]
			wg.Go(func() {
				p, err := tr.Acquire(t.Context(), Call{Key: key})
				if !assert.NoError(t, err) {
					return
				}
				count(key, 1)
				time.Sleep(time.Second)
				count(key, -1)
				p.Done()
			})
		}
		wg.Wait()
		assert.Equal(t, 5, most["all"], "all slots are used, and no more")
		for _, key := range []string{"a", "b", "c"} {
			assert.LessOrEqual(t, most[key], 3, key)
		}
		assert.LessOrEqual(t, time.Since(epoch), 26*time.Second, "no slot is idle but at the end, where one key may be left alone")
	})
}

// CON-02 in small: a slot that is not taken in the end is there for the next one.
func TestSlotsComeBack(t *testing.T) {
	inBubble(t, []Option{WithMaxInFlight(1), WithMaxInFlightTotal(1)}, func(t *testing.T, tr *Transport) {
		for range 3 {
			p, _ := take(t, tr, Call{})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := tr.Acquire(ctx, Call{Key: "k"})
			require.ErrorIs(t, err, context.DeadlineExceeded)
			_, err = tr.Acquire(ctx, Call{Key: "other"})
			require.ErrorIs(t, err, context.DeadlineExceeded)
			cancel()
			p.Cancel()
		}
		_, at := take(t, tr, Call{Key: "other"})
		assert.Equal(t, 3*time.Second, at)
	})
}

// A cap that the server announces is kept like a configured one, but never raises that.
func TestAnnouncedCapOnCallsInFlight(t *testing.T) {
	for name, c := range map[string]struct {
		opts []Option
		want int
	}{
		"alone":      {nil, 6},
		"configured": {[]Option{WithMaxInFlight(4)}, 4},
		"above it":   {[]Option{WithMaxInFlight(9)}, 6},
		"a share":    {[]Option{WithShare(0.5)}, 3},
		"one place":  {[]Option{WithShare(0.01)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := newServer(func(int, *http.Request) reply {
					return reply{after: time.Second, header: map[string]string{"RateLimit-Policy": `"conc";q=6;qu="concurrent-requests"`, "RateLimit": `"conc";r=5`}}
				})
				c2, tr := client(t, up, c.opts...)
				var all sync.WaitGroup
				for range 31 {
					all.Go(func() {
						_, _, err := get(c2, api)
						assert.NoError(t, err)
					})
				}
				all.Wait()
				together := map[time.Duration]int{}
				for _, at := range up.times() {
					together[at]++
				}
				assert.Equal(t, c.want, slices.Max(slices.Collect(maps.Values(together))), "at once, as all take equally long")
				assert.Equal(t, c.want, tr.Snapshot()[0].MaxInFlight)
			})
		})
	}
}

func TestTheLeastOfSeveralCapsIsKeptAndForgottenInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told atomic.Bool
		told.Store(true)
		c, tr := client(t, newServer(func(int, *http.Request) reply {
			r := reply{after: time.Second}
			if told.Load() {
				r.header = fields("RateLimit-Policy", `"user";q=2;qu="concurrent-requests", "org";q=50;qu="concurrent-requests"`)
			}
			return r
		}))
		cap := func() int { s, _ := tr.State("api.example"); return s.MaxInFlight }
		flood(t, c, 1, api)
		assert.Equal(t, 2, cap())
		told.Store(false)
		flood(t, c, silence, api)
		assert.Equal(t, 2, cap())
		flood(t, c, 1, api)
		assert.Zero(t, cap())
	})
}

// A place that is taken is no quota that is used up: a plain 403 stays what it is.
func TestAForbiddenCallIsNoRefusalForAPlaceThatIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(func(int, *http.Request) reply {
			return reply{status: http.StatusForbidden, header: fields("RateLimit-Policy", `"c";q=1;qu="concurrent-requests"`, "RateLimit", `"c";r=0`)}
		})
		c, _ := client(t, s)
		_, _, err := get(c, api)
		require.NoError(t, err)
		assert.Equal(t, 1, s.count())
	})
}
