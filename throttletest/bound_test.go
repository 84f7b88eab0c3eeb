package throttletest

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/seed-18ca0a92/throttle/budget"
)

// lat is a latency of 100 ms each way and 300 ms at the server.
var lat = Latency{Network: 80 * time.Millisecond, Jitter: Exponential(20 * time.Millisecond), Service: LogNormal(300*time.Millisecond, 0.4)}

const oneWay, service = 100 * time.Millisecond, 300 * time.Millisecond

func TestBoundsInClosedForm(t *testing.T) {
	const round = 2*oneWay + service
	for name, c := range map[string]struct {
		limits []Limit
		job    Job
		want   time.Duration
	}{
		"no limit, no bound on workers": {nil, Job{Calls: 1000}, round},
		"no limit, 16 workers":          {nil, Job{Calls: 100, Workers: 16}, 7 * round},
		"no calls":                      {nil, Job{}, 0},
		// 5700 of 600 a minute, 20 s into a window: 9 edges, the first after 40 s; then one round less the way there.
		"fixed window": {
			[]Limit{FixedWindow(600, time.Minute)}, Job{Calls: 5700, Start: dawn.Add(20 * time.Second)},
			8*time.Minute + 40*time.Second + service + oneWay,
		},
		// 64 workers do the last 300 in 5 rounds.
		"fixed window, 64 workers": {
			[]Limit{FixedWindow(600, time.Minute)}, Job{Calls: 5700, Workers: 64, Start: dawn},
			9*time.Minute + 4*round + service + oneWay,
		},
		// 2 s are left of the first window, in which 2 workers make only 4 rounds: the last 2 of 30 fall into the third.
		"fixed window that is nearly over": {
			[]Limit{FixedWindow(20, time.Minute)}, Job{Calls: 30, Workers: 2, Start: dawn.Add(58 * time.Second)},
			62*time.Second + service + oneWay,
		},
		"fixed window, idle at the edge": {
			[]Limit{FixedWindow(20, time.Minute)}, Job{Calls: 38, Workers: 8, Start: dawn.Add(58 * time.Second)},
			2*time.Second + 2*round + service + oneWay,
		},
		"opened window":     {[]Limit{OpenedWindow(10, time.Minute)}, Job{Calls: 25, Start: dawn.Add(33 * time.Second)}, 2*time.Minute + round},
		"sliding log":       {[]Limit{SlidingLog(10, time.Minute)}, Job{Calls: 25, Start: dawn}, 2*time.Minute + round},
		"sliding counter":   {[]Limit{SlidingCounter(10, time.Minute)}, Job{Calls: 15, Start: dawn.Add(-oneWay)}, time.Minute + 30*time.Second + round},
		"bucket":            {[]Limit{TokenBucket(10, time.Second, 20)}, Job{Calls: 100, Start: dawn}, 8*time.Second + round},
		"burst of one":      {[]Limit{TokenBucket(10, time.Second, 1)}, Job{Calls: 100, Start: dawn}, 9900*time.Millisecond + round},
		"bucket, 2 workers": {[]Limit{TokenBucket(10, time.Second, 20)}, Job{Calls: 100, Workers: 2, Start: dawn}, 50 * round},
		"queue":             {[]Limit{LeakyQueue(10, time.Second, 5)}, Job{Calls: 100, Start: dawn}, 9900*time.Millisecond + round},
		// 25 rounds of 4, each 300 ms at the server; with 4 workers a slot lies idle for a round trip each time.
		"slots":            {[]Limit{Concurrency(4)}, Job{Calls: 100}, 25*service + 2*oneWay},
		"slots, 4 workers": {[]Limit{Concurrency(4)}, Job{Calls: 100, Workers: 4}, 25 * round},
		"quantised":        {[]Limit{Quantised(600, time.Minute, time.Second)}, Job{Calls: 95, Start: dawn.Add(-oneWay)}, 9*time.Second + round},
		"daily":            {[]Limit{Daily(100)}, Job{Calls: 250, Start: dawn.Add(-oneWay)}, 48*time.Hour + round},
		"requests and tokens": {
			[]Limit{TokenBucket(600, time.Minute, 10), TokenBucket(6000, time.Minute, 600).Of(budget.Tokens)},
			Job{Calls: 100, Cost: budget.Cost{budget.Tokens: 50}, Start: dawn}, 44*time.Second + round,
		},
		"raised on the way": {
			[]Limit{TokenBucket(10, time.Second, 1).ChangedTo(20, 5*time.Second)}, Job{Calls: 101, Start: dawn}, 7500*time.Millisecond + round,
		},
		"drawn before": {[]Limit{FixedWindow(10, time.Minute).WithDrawn(9)}, Job{Calls: 2, Start: dawn.Add(-oneWay)}, time.Minute + round},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := NewUpstream(WithLatency(lat), WithLimits(c.limits...)).Bound(c.job)
			assert.True(t, ok)
			assert.InDelta(t, c.want, got, float64(2*time.Microsecond))
		})
	}
}

func TestBoundWaitsForOutagesAndSharesWithForeigners(t *testing.T) {
	u := NewUpstream(WithLimits(TokenBucket(10, time.Second, 1)), WithOutage(Outage{From: time.Second, For: 10 * time.Second}),
		WithOutage(Outage{For: time.Hour, Share: 0.5}))
	got, _ := u.Bound(Job{Calls: 21, Start: dawn})
	assert.InDelta(t, 12*time.Second, got, 1e3, "ten before it, one at its end, ten after it")

	u = NewUpstream(WithLimits(FixedWindow(10, time.Second)), WithForeign(Foreign{Gap: Constant(250 * time.Millisecond)}))
	got, _ = u.Bound(Job{Calls: 600, Start: dawn})
	assert.Equal(t, 66*time.Second, got, "ten at first, then nine a second: the foreigner is there at every edge, and too late after it")
	assert.Zero(t, u.Stats().Foreign.Arrivals, "the upstream itself has seen nothing")
}

func TestBoundOfAResourceAndOfItsOwnServiceTime(t *testing.T) {
	u := NewUpstream(WithResource("s", func(*http.Request) bool { return true }, TokenBucket(1, time.Second, 1)), WithLatency(lat))
	got, _ := u.Bound(Job{Calls: 3, Resource: "s", Service: time.Minute})
	assert.InDelta(t, 62*time.Second+2*oneWay, got, 1e3)
	got, _ = u.Bound(Job{Calls: 3})
	assert.Equal(t, 2*oneWay+service, got)
}

func TestBoundOfWhatCanNeverBe(t *testing.T) {
	u := NewUpstream(WithLimits(FixedWindow(10, time.Minute).Of(budget.Tokens)))
	_, ok := u.Bound(Job{Calls: 1, Cost: budget.Cost{budget.Tokens: 11}})
	assert.False(t, ok)
	later := NewUpstream(WithLimits(FixedWindow(10, time.Minute).Of(budget.Tokens).ChangedTo(20, time.Hour)))
	got, ok := later.Bound(Job{Calls: 1, Cost: budget.Cost{budget.Tokens: 11}, Start: dawn})
	assert.True(t, ok)
	assert.Equal(t, time.Hour, got)
}

func TestBoundSeesTheFirstOfSeveralChanges(t *testing.T) {
	u := NewUpstream(WithLimits(FixedWindow(50, time.Hour).ChangedTo(100, 20*time.Second), FixedWindow(1, time.Hour).ChangedTo(100, 10*time.Second)))
	got, _ := u.Bound(Job{Calls: 2, Start: dawn})
	assert.Equal(t, 10*time.Second, got)
}

// TestNobodyBeatsTheBound plays clients that are admitted as luck will have it: each waits at random beyond what it must.
func TestNobodyBeatsTheBound(t *testing.T) {
	for name, c := range laws() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				u := NewUpstream(WithLimits(c.Limit))
				j := Job{
					Calls: rapid.IntRange(1, 40).Draw(t, "calls"), Workers: rapid.IntRange(0, 6).Draw(t, "workers"),
					Service: staying, Start: dawn.Add(time.Duration(rapid.IntRange(0, 5000).Draw(t, "start")) * time.Millisecond),
				}
				bound, ok := u.Bound(j)
				if took := stroll(t, u, j); !ok || took < bound {
					t.Fatalf("bound %v, done in %v", bound, took)
				}
			})
		})
	}
}

// stroll does a job in the way of a client that takes breaks.
func stroll(t *rapid.T, u *Upstream, j Job) time.Duration {
	c := u.config.ideal(j)
	at, last := j.Start, j.Start
	var ends []time.Time
	for i := range j.Calls {
		if j.Workers > 0 && i >= j.Workers && ends[i-j.Workers].After(at) {
			at = ends[i-j.Workers]
		}
		rest := rapid.SampledFrom([]int{0, 0, 0, 1, 150, 2500}).Draw(t, "rest")
		for !c.open || c.obstacle(at, nil) != nil || rest > 0 {
			c.advance(at)
			at = at.Add(time.Duration(1+rest) * time.Millisecond)
			rest = 0
		}
		end := c.serve(at)
		ends = append(ends, end)
		if end.After(last) {
			last = end
		}
	}
	return last.Sub(j.Start)
}
