package throttletest

import (
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-18ca0a92/throttle/budget"
)

// These tests hold the upstream against what is known of real ones: figures that follow from the arithmetic of a limit and of
// the network, and that a client will be judged by.

// paced sends n calls with a fixed gap, whatever the answers are, and returns the share that was refused.
func paced(t *testing.T, n int, gap time.Duration, opts ...Option) (refused float64) {
	synctest.Test(t, func(t *testing.T) {
		u := NewUpstream(opts...)
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() {
				if resp, err := u.RoundTrip(mustGet()); assert.NoError(t, err) {
					resp.Body.Close()
				}
			})
			time.Sleep(gap)
		}
		wg.Wait()
		refused = float64(u.Stats().Refused) / float64(n)
	})
	return refused
}

// TestJitterIsPunishedByABurstOfOne has calls paced at a part of the rate of a bucket that forgives nothing. Two neighbours are too
// close if their jitters differ by more than the spare time, which two exponentials of mean j do with 0.5 exp(-spare/j).
func TestJitterIsPunishedByABurstOfOne(t *testing.T) {
	const interval, jitter = 100 * time.Millisecond, 10 * time.Millisecond
	for _, part := range []float64{0.7, 0.8, 0.9} {
		gap := time.Duration(float64(interval) / part)
		want := 0.5 * math.Exp(-float64(gap-interval)/float64(jitter))
		got := paced(t, 10_000, gap, WithLimits(TokenBucket(10, time.Second, 1)), WithLatency(Latency{Network: 20 * time.Millisecond, Jitter: Exponential(jitter)}))
		assert.InEpsilon(t, want, got, 0.25, "at %v of the rate", part)
	}
}

func TestPacingAtTheVeryRate(t *testing.T) {
	network := WithLatency(Latency{Network: 20 * time.Millisecond, Jitter: Exponential(10 * time.Millisecond)})
	one := paced(t, 5000, 100*time.Millisecond, network, WithLimits(TokenBucket(10, time.Second, 1)))
	assert.InDelta(t, 0.5, one, 0.15, "about every second call is too early")
	two := paced(t, 5000, 100*time.Millisecond, network, WithLimits(TokenBucket(10, time.Second, 2)))
	assert.Less(t, two, 0.002, "and hardly any with one unit to spare")
	still := paced(t, 5000, 100*time.Millisecond, WithLatency(Latency{Network: 20 * time.Millisecond}), WithLimits(TokenBucket(10, time.Second, 1)))
	assert.Zero(t, still, "nor without jitter")
}

// TestABlindClientPaysForTheWayBack has W workers run into an exhausted window: besides the call that finds out, as many are
// refused as leave before its answer is there.
func TestABlindClientPaysForTheWayBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers, quota = 64, 600
		u := NewUpstream(WithLimits(FixedWindow(quota, time.Hour)),
			WithLatency(Latency{Network: 25 * time.Millisecond, Service: LogNormal(500*time.Millisecond, 0.5)}))
		var stop sync.Once
		stopped := make(chan struct{})
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				for {
					select {
					case <-stopped:
						return
					default:
					}
					if resp, err := u.RoundTrip(mustGet()); assert.NoError(t, err) && closed(resp) == 429 {
						stop.Do(func() { close(stopped) })
					}
				}
			})
		}
		wg.Wait()
		assert.Equal(t, quota, u.Stats().Admitted)
		rate := workers / 0.55                               // sends per second
		assert.InDelta(t, 1+rate*0.05, u.Stats().Refused, 6) // in the 50 ms of a round trip
	})
}

// TestOneCallTooManyCostsAWindow is the staircase of a fixed window.
func TestOneCallTooManyCostsAWindow(t *testing.T) {
	u := NewUpstream(WithLimits(FixedWindow(600, time.Minute)))
	even, _ := u.Bound(Job{Calls: 6000, Start: dawn})
	odd, _ := u.Bound(Job{Calls: 6001, Start: dawn})
	assert.Equal(t, 9*time.Minute, even)
	assert.Equal(t, 10*time.Minute, odd)
}

// TestAMinuteAtOnceAgainstAQuantisedLimit sends what is announced at once, and then at the pace of the steps.
func TestAMinuteAtOnceAgainstAQuantisedLimit(t *testing.T) {
	limit := WithLimits(Quantised(600, time.Minute, time.Second).WithPhase(325 * time.Millisecond))
	assert.InDelta(t, 590.0/600, paced(t, 600, 0, limit), 1e-9)
	assert.Zero(t, paced(t, 600, 100*time.Millisecond, limit))
	jitter := WithLatency(Latency{Jitter: Uniform(0, 50*time.Millisecond)})
	assert.Zero(t, paced(t, 600, 105*time.Millisecond, limit, jitter), "a step and the jitter hold no more than ten")
	assert.Positive(t, paced(t, 600, 100*time.Millisecond, limit, jitter))
}

// TestExcessOfAQueueShowsAsLatency sends at one and a half times the rate: the answers come later and later, and only then are
// there refusals.
func TestExcessOfAQueueShowsAsLatency(t *testing.T) {
	p := newPlay(t, WithLimits(LeakyQueue(10, time.Second, 20)))
	refusedAt := 0
	for n := range 100 {
		v := p.at(time.Duration(n)*time.Second/15, request("{}"))
		if v.reason == OverLimit {
			refusedAt = n
			break
		}
		// Every call finds a third of a unit more in the queue.
		assert.InDelta(t, float64(n)/15*5/10, v.service.Seconds(), 0.01)
	}
	assert.InDelta(t, 60, refusedAt, 2)
}

// TestReservingTheMostWastesWhatIsNotUsed is the over-reservation of a server that charges max_tokens for good.
func TestReservingTheMostWastesWhatIsNotUsed(t *testing.T) {
	used := func(how Charge) (output float64) {
		u := NewUpstream(WithCharge(how), WithOutputTokens(300, 0.8), WithLimits(FixedWindow(100_000, time.Hour).Of(budget.OutputTokens)))
		for range 10_000 {
			k, err := u.open(request(`{"max_tokens":4096}`))
			assert.NoError(t, err)
			v := u.brain.arrive(dawn, 0, k, nil)
			if v.reason != Admitted {
				return output
			}
			output += k.output
			u.brain.leave(&v, dawn)
			u.brain.settle(dawn, &v, k)
		}
		t.Error("it never ends")
		return output
	}
	assert.InDelta(t, 0.073, used(ChargeMax)/100_000, 0.03, "300 of 4096")
	assert.InDelta(t, 0.98, used(ChargeSettled)/100_000, 0.03, "all but the last reservation")
	assert.InDelta(t, 1, used(ChargeUsed)/100_000, 0.05, "and into debt by a call")
}

// TestAStormOfRefusalsIsNobodysFault counts what hits a client in a partial outage.
func TestAStormOfRefusalsIsNobodysFault(t *testing.T) {
	storm := WithOutage(Outage{From: 10 * time.Second, For: 20 * time.Second, Status: 429, Share: 0.5})
	got := paced(t, 4000, 10*time.Millisecond, storm, WithHint(HintSeconds, Up))
	assert.InDelta(t, 0.25, got, 0.03, "half of the calls of half of the time")
}
