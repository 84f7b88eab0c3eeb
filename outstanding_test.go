package throttle

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
	"github.com/seed-18ca0a92/throttle/internal/mirror"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

// learned is what calls teach that used as many units each, and took as long.
func learned(t *testing.T, p budget.Policy, calls int, used float64, life time.Duration) *declared {
	t.Helper()
	l, err := newLane("k", &config{share: 1}, newTotal(0), []budget.Policy{p}, epoch)
	require.NoError(t, err)
	d := l.ofKey[0]
	for range calls {
		d.foresee(epoch, epoch.Add(life), used)
	}
	return d
}

func TestCallsUnderWayUseNoMoreThanTheServerHasAndGets(t *testing.T) {
	const life = 10 * time.Second
	bucket := budget.PerSecond(100).Of(budget.Tokens).WithBurst(1000)
	d := learned(t, bucket, outstandingWeight, 50, life)
	o, now := d.outstanding, epoch.Add(life).Add(time.Minute) // the bucket is full again
	full := mirror.Stock{Left: 1000, Rate: 100, Most: 1000}
	require.Equal(t, full, d.stock(now))
	assert.InDelta(t, 500, o.reserve(full), 1e-6, "three deviations would be 949, and half of the bucket is the most")

	// 1000 are there and as many come back in ten seconds, 500 are kept: 30 calls of 50.
	assert.Zero(t, o.clears(now, 50, full, 29))
	assert.Equal(t, now.Add(500*time.Millisecond), o.clears(now, 50, full, 30), "50 more take half a second")
	assert.Zero(t, o.clears(now, 5000, full, 0), "with nothing under way there is nothing to foresee")
	d.truth.Give(now, -1200)
	debt := d.stock(now)
	assert.InDelta(t, -200, debt.Left, 1e-6)
	assert.Zero(t, o.clears(now, 50, debt, 5))
	assert.True(t, o.clears(now, 50, debt, 6).After(now))
}

func TestTheFirstToEndAreTheShortOnes(t *testing.T) {
	bucket := budget.PerSecond(100).Of(budget.Tokens).WithBurst(1000)
	few := learned(t, bucket, outstandingWeight/4, 50, time.Second).outstanding
	many := learned(t, bucket, outstandingWeight*2, 50, time.Second).outstanding
	assert.InDelta(t, 87.5, few.likely(), 1e-6)
	assert.InDelta(t, 50, many.likely(), 1e-6)
}

func TestOnlyBucketsForesee(t *testing.T) {
	assert.Nil(t, learned(t, budget.PerMinute(1000).Of(budget.Tokens), 3, 50, time.Second).outstanding, "a window gets nothing back while calls are under way")
	assert.Nil(t, learned(t, budget.PerMinute(1000).WithBurst(10), 3, 1, time.Second).outstanding, "requests count on arrival")
	none := learned(t, budget.PerMinute(1000).WithBurst(10), 0, 0, 0)
	assert.Zero(t, none.foreseen(epoch, 1))
	assert.False(t, none.overdrawn(epoch, 1))
}

func TestARefusalAfterAnOverdraftIsNoSurprise(t *testing.T) {
	d := learned(t, budget.PerSecond(100).Of(budget.Tokens).WithBurst(1000), 1, 990, time.Second)
	now := epoch.Add(time.Second)
	assert.True(t, d.overdrawn(now, 20))
	assert.False(t, d.overdrawn(now, 5))
	assert.False(t, d.overdrawn(now.Add(time.Second), 20))
}

// A thousand calls that came before anything was learned do not each reserve what was thought then.
func TestEstimatesAreRenewedWhenACallLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		estimate, asked := 1000.0, 0
		cost := func(*http.Request) budget.Cost {
			mu.Lock()
			defer mu.Unlock()
			asked++
			return tokens(estimate)
		}
		c, tr := client(t, newServer(always), WithCost(cost), WithKey(func(*http.Request) string { return "k" }), WithPolicies(budget.PerSecond(100).Of(budget.Tokens).WithBurst(1000)))
		var all sync.WaitGroup
		for range 21 {
			all.Go(func() {
				_, _, err := get(c, api)
				assert.NoError(t, err)
			})
		}
		synctest.Wait()
		mu.Lock()
		estimate = 100
		mu.Unlock()
		all.Wait()
		// The first leaves 1000 behind, ten seconds' worth; each that follows waits for 1000 to be there, and gives back 900 at once.
		assert.Less(t, time.Since(epoch), 31*time.Second, "not the 200 s of twenty estimates of 1000")
		assert.Equal(t, 21+20, asked)
		s, _ := tr.State("k")
		assert.InDelta(t, 100, s.Budgets[0].Used, 5, "the last one")
	})
}

func TestFreshEstimatesAreNotRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		c, _ := client(t, newServer(always), WithCost(func(*http.Request) budget.Cost { asked++; return tokens(10) }), WithPolicies(budget.PerSecond(100).Of(budget.Tokens).WithBurst(10)))
		for range 5 {
			_, _, err := get(c, api)
			require.NoError(t, err)
		}
		assert.Equal(t, 5, asked, "none waited for a second")
	})
}

// Where the server counts a call when it ends, Remaining says nothing of calls under way, and what is declared is believed, unless it is more than
// the server announces.
func TestWhatIsDeclaredIsBelievedWhereCallsCountWhenTheyEnd(t *testing.T) {
	bucket := budget.PerMinute(600).Of(budget.OutputTokens)
	for name, c := range map[string]struct {
		how      throttletest.Charge
		declared budget.Policy
		believed bool
	}{
		"when they end":          {throttletest.ChargeUsed, bucket.WithBurst(1000), true},
		"a plain minute":         {throttletest.ChargeUsed, bucket, true},
		"more than is announced": {throttletest.ChargeUsed, bucket.WithBurst(1100), false},
		"on arrival":             {throttletest.ChargeMax, bucket.WithBurst(1000), false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := throttletest.NewUpstream(throttletest.WithCharge(c.how), throttletest.WithOutputTokens(100, 0), throttletest.WithDialect(headers.Anthropic),
					throttletest.WithLimits(throttletest.TokenBucket(600, time.Minute, 1000).Of(budget.OutputTokens)))
				client, tr := client(t, up, WithCost(func(*http.Request) budget.Cost { return budget.Cost{budget.OutputTokens: 100} }), WithPolicies(c.declared))
				resp, err := client.Post(api, "application/json", strings.NewReader(`{"max_tokens":100}`))
				require.NoError(t, err)
				resp.Body.Close()
				l := tr.find(tr.Snapshot()[0].Key)
				require.Len(t, l.mirrors, 1)
				assert.Equal(t, c.how == throttletest.ChargeUsed, l.mirrors[0].mirror.Late())
				at, alone, ever := l.mirrors[0].ready(time.Now(), 990, 990)
				assert.True(t, ever)
				assert.Equal(t, c.believed, at.IsZero() && !alone)
				for _, d := range l.ofKey {
					assert.False(t, c.believed && d.mirror != nil, "its own count is what counts")
				}
			})
		})
	}
}

// Answers of a hundred tokens that take ten seconds, from a bucket of ten such that gets back ten more in that time, which nobody has declared.
func TestWhatCallsUnderWayUseIsForeseenFromWhatIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers, each, output = 15, 20, 100
		up := throttletest.NewUpstream(throttletest.WithCharge(throttletest.ChargeUsed), throttletest.WithOutputTokens(output, 0), throttletest.WithDialect(headers.Anthropic),
			throttletest.WithLatency(throttletest.Latency{PerToken: 10 * time.Second / output}), throttletest.WithLimits(throttletest.TokenBucket(6000, time.Minute, 1000).Of(budget.OutputTokens)))
		client, tr := client(t, up, WithCost(func(*http.Request) budget.Cost { return budget.Cost{budget.OutputTokens: 2 * output} }),
			WithUsage(func(*http.Response, []byte) budget.Cost { return budget.Cost{budget.OutputTokens: output} }))
		var all sync.WaitGroup
		for range workers {
			all.Go(func() {
				for range each {
					resp, err := client.Post(api, "application/json", strings.NewReader(`{"max_tokens":200}`))
					if assert.NoError(t, err) {
						_, _ = io.Copy(io.Discard, resp.Body)
						resp.Body.Close()
					}
				}
			})
		}
		all.Wait()
		assert.Zero(t, up.Stats().Refused)
		assert.LessOrEqual(t, up.Stats().Debt[budget.OutputTokens], 500., "those that left before the first answer")
		least := time.Duration(workers*each-10) * time.Second // the bucket's burst and its rate
		assert.LessOrEqual(t, time.Since(epoch), least*120/100)
		l := tr.find(tr.Snapshot()[0].Key)
		stock, known := l.mirrors[0].stock(time.Now())
		assert.True(t, known)
		assert.InDelta(t, 100, stock.Rate, 5)
	})
}

// Once the server has shown that it gets tokens back steadily, a declared minute is counted by what it tells: as a log, what calls under way have reserved
// would stand until they end.
func TestAPlainMinuteIsCountedByWhatIsToldOfABucket(t *testing.T) {
	for name, c := range map[string]struct {
		declared budget.Policy
		paired   bool
	}{
		"the same":       {budget.PerMinute(1000).Of(budget.OutputTokens), true},
		"less":           {budget.PerMinute(900).Of(budget.OutputTokens), false},
		"with its burst": {budget.PerMinute(1000).Of(budget.OutputTokens).WithBurst(1000), false},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := newLane("k", &config{share: 1}, newTotal(0), []budget.Policy{c.declared}, epoch)
			require.NoError(t, err)
			m := &announced{meterName: meterName{unit: budget.OutputTokens}, lane: l, mirror: mirror.New(epoch), limit: 1000, proven: true, late: true, steady: true}
			l.mirrors = append(l.mirrors, m)
			l.pair()
			assert.Equal(t, c.paired, l.ofKey[0].mirror == m)
			assert.Equal(t, !c.paired, m.known, "what is declared counts for itself")
		})
	}
}

// Foresight is for those who will be charged: streams that cost no tokens, and one that stays open for hours, hold nobody up.
func TestForesightForgetsWhoCostsNothingAndWhoStays(t *testing.T) {
	inBubble(t, []Option{WithPolicies(budget.PerMinute(1000).Of(budget.Tokens).WithBurst(1000))}, func(t *testing.T, tr *Transport) {
		use := func(n float64) {
			p, _ := take(t, tr, Call{Cost: tokens(n)})
			time.Sleep(time.Second)
			p.Settle(tokens(n))
			p.Done()
		}
		for range 40 {
			use(100)
		}
		for range 20 {
			take(t, tr, Call{Cost: tokens(0)})
		}
		time.Sleep(time.Minute)
		start := time.Now()
		use(100)
		assert.Equal(t, time.Second, time.Since(start), "free ones are not counted")
		for range 40 {
			use(600)
		}
		take(t, tr, Call{Cost: tokens(600)}) // and never ends
		time.Sleep(time.Minute)
		start = time.Now()
		use(600)
		assert.LessOrEqual(t, time.Since(start), time.Minute, "nor is one that stays")
	})
}
