package throttle

import (
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

// A call that takes a minute is let in long before it is answered. After a refusal the others follow one that goes alone soon, not when
// its answer is there.
func TestLongCallsAfterARefusalHoldUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(nil)
		s.latency = 20 * time.Millisecond
		s.reply = func(n int, _ *http.Request) reply {
			if n == 1 {
				return tooMany()
			}
			return reply{after: time.Minute}
		}
		c, _ := client(t, s)
		flood(t, c, 8, api)
		assert.Less(t, time.Since(s.start), 90*time.Second, "all within the time of one, and a little more")
	})
}

// A server that is overloaded turns calls away by chance, and says that they may come back at once. No law about hours explains that.
func TestAServerThatRefusesByChanceIsCalledOn(t *testing.T) {
	const calls = 300
	synctest.Test(t, func(t *testing.T) {
		s := newServer(nil)
		s.latency = 100 * time.Millisecond
		luck := rand.New(rand.NewPCG(1, 1))
		s.reply = func(int, *http.Request) reply {
			if luck.Float64() < 2./3 {
				return tooMany("Retry-After-Ms", "1")
			}
			return reply{}
		}
		c, _ := client(t, s, WithMaxAttempts(50))
		flood(t, c, calls, api)
		assert.Less(t, time.Since(s.start), 30*time.Minute, "ten calls a minute at least")
	})
}

// What was learned while half of all calls were refused is given up soon when the server has recovered.
func TestAServerThatHasRecoveredIsUsedAgain(t *testing.T) {
	const trouble = 5 * time.Minute
	synctest.Test(t, func(t *testing.T) {
		s := newServer(nil)
		s.latency = 100 * time.Millisecond
		luck := rand.New(rand.NewPCG(1, 1))
		s.reply = func(int, *http.Request) reply {
			if time.Since(s.start) < trouble && luck.Float64() < 0.5 {
				return tooMany()
			}
			return reply{}
		}
		c, _ := client(t, s, WithMaxAttempts(50))
		flood(t, c, 1000, api)
		assert.Less(t, time.Since(s.start), trouble+10*time.Minute)
	})
}

// A limit per second that no header tells is worked out once, and obeyed as long as it holds anybody back.
func TestAHiddenLimitIsNotForgottenWhileItBinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := throttletest.NewUpstream(throttletest.WithDialect(headers.XRateLimit), throttletest.WithLatency(throttletest.Latency{Network: 10 * time.Millisecond}),
			throttletest.WithLimits(throttletest.Quantised(600, time.Minute, time.Second)))
		c, tr := client(t, up)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 150 {
					_, _, err := get(c, api)
					assert.NoError(t, err)
				}
			})
		}
		all.Wait()
		assert.NotNil(t, tr.find(tr.Snapshot()[0].Key).bank)
		assert.Less(t, up.Stats().Refused, 40, "what it takes to find out, once")
	})
}

// Where limits are believed, a server that refuses everything for a while and says nothing is down: one call at a time asks whether it is back, no law is
// made of it, and all go on soon after.
func TestAStormOfRefusalsHoldsTheKey(t *testing.T) {
	const calls, storm = 40, 20 * time.Second
	synctest.Test(t, func(t *testing.T) {
		s := newServer(nil)
		s.latency = 50 * time.Millisecond
		refusals := 0
		s.reply = func(n int, _ *http.Request) reply {
			if n > 1 && time.Since(s.start) < storm {
				refusals++
				return tooMany()
			}
			return reply{}
		}
		c, tr := client(t, s, WithPolicies(budget.PerMinute(600).WithBurst(60)))
		flood(t, c, calls, api)
		assert.Less(t, time.Since(s.start), storm*5/4+time.Second, "a fifth of the storm's time is lost at most")
		assert.Less(t, refusals, calls+16, "those under way, and one at a time")
		assert.Nil(t, tr.find(tr.Snapshot()[0].Key).bank)
	})
}

func TestPlentyIsWhatEachQuotaOfRequestsHasMuchOf(t *testing.T) {
	quota := func(unit string, limit, left float64) headers.Quota {
		return headers.Quota{Unit: unit, Limit: headers.Some(limit), Remaining: headers.Some(left)}
	}
	for name, c := range map[string]struct {
		quotas []headers.Quota
		plenty bool
	}{
		"nothing told":          {nil, false},
		"much":                  {[]headers.Quota{quota(budget.Requests, 100, 50)}, true},
		"little":                {[]headers.Quota{quota(budget.Requests, 100, 5)}, false},
		"much of one of two":    {[]headers.Quota{quota(budget.Requests, 100, 50), quota(budget.Requests, 1000, 0)}, false},
		"much of another unit":  {[]headers.Quota{quota(budget.Tokens, 100, 50)}, false},
		"little of another one": {[]headers.Quota{quota(budget.Tokens, 100, 0), quota(budget.Requests, 100, 50)}, true},
		"no limit":              {[]headers.Quota{{Unit: budget.Requests, Remaining: headers.Some(50.)}}, false},
	} {
		assert.Equal(t, c.plenty, plentyLeft(&headers.Report{Quotas: c.quotas}), name)
	}
}
