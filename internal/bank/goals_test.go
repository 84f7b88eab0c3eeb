package bank

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// endless is more work than any play of limited length gets done.
const endless = 1_000_000

// busy is a crowd that never runs out of work: 64 workers, half a second for each call.
func busy(lasts, jitter time.Duration, s func(*world) server) scenario {
	return scenario{calls: endless, workers: 64, service: 500 * time.Millisecond, jitter: jitter, lasts: lasts, server: s}
}

// utilisation is the part of a rate that was let in from one time after the start to another, and the refusals per 1000 of that.
func (r *result) utilisation(rate float64, from, until time.Duration) (used, per1000 float64) {
	let := float64(r.in(done, from, until))
	return let / (rate * (until - from).Seconds()), 1000 * float64(r.in(turnedOff, from, until)) / let
}

// A bucket that says nothing is used up, once it is known, at the price of few refusals.
func TestAKnownBucketIsUsedUp(t *testing.T) {
	const rate, warm, lasts = 10.0, time.Minute, 30 * time.Minute
	for _, burst := range []float64{10, 100} {
		for _, c := range crowds()[:3] {
			t.Run(fmt.Sprintf("burst %v/%v", burst, c.jitter), func(t *testing.T) {
				t.Parallel()
				s := busy(lasts, c.jitter, bucket(rate, burst))
				for seed := range uint64(2) {
					r := s.play(seed)
					used, per1000 := r.utilisation(rate, warm, lasts)
					t.Logf("used %.3f, refusals per 1000 %.1f", used, per1000)
					assert.GreaterOrEqual(t, used, .985, "seed %d", seed)
					assert.LessOrEqual(t, per1000, 5., "seed %d", seed)
				}
			})
		}
	}
}

// regained is how long after a moment it takes until nine tenths of a rate were let in for ten seconds.
func (r *result) regained(rate float64, since, lasts time.Duration) time.Duration {
	const span = 10 * time.Second
	for at := since; at+span <= lasts; at += time.Second {
		if float64(r.in(done, at, at+span)) >= .9*rate*span.Seconds() {
			return at - since
		}
	}
	return math.MaxInt64
}

// A rate that triples is found again within a minute, one that falls to a third at once, both without many refusals.
func TestARateThatChangesIsFoundAgain(t *testing.T) {
	const change, lasts = 10 * time.Minute, 20 * time.Minute
	for _, c := range []struct {
		name          string
		before, after float64
		soon          time.Duration
		refusals      int
	}{
		{"three times as much", 10, 30, time.Minute, 30},
		{"a third", 30, 10, 0, 45},
	} {
		for _, crowd := range crowds()[:2] {
			t.Run(fmt.Sprintf("%s/%v", c.name, crowd.jitter), func(t *testing.T) {
				t.Parallel()
				s := busy(lasts, crowd.jitter, changing(change, bucket(c.before, 20), bucket(c.after, 20)))
				for seed := range uint64(4) {
					r := s.play(seed)
					took, refusals := r.regained(c.after, change, lasts), r.in(turnedOff, change, lasts)
					t.Logf("found again after %v, %d refusals", took, refusals)
					assert.LessOrEqual(t, took, c.soon, "seed %d", seed)
					assert.LessOrEqual(t, refusals, c.refusals, "seed %d", seed)
				}
			})
		}
	}
}

// Processes that know nothing of each other, and a server that says nothing: they use it up, and share it. Jain's index is that of the
// last ten minutes, on average: shares swing. Long waits differ by more than the half that was wanted, since a refusal meets one process and not
// another.
func TestBlindProcessesShare(t *testing.T) {
	const rate, warm, settled, lasts = 20.0, time.Minute, 20 * time.Minute, 30 * time.Minute
	const plays, fair = 4, .98
	for _, clients := range []int{2, 10} {
		t.Run(fmt.Sprintf("%d processes", clients), func(t *testing.T) {
			t.Parallel()
			s := scenario{
				calls: endless, clients: clients, workers: 8, service: 200 * time.Millisecond, jitter: 10 * time.Millisecond, lasts: lasts,
				server: bucket(rate, 20),
			}
			var mean float64
			for seed := range uint64(plays) {
				r := s.play(seed)
				used, per1000 := r.utilisation(rate, warm, lasts)
				even, spread := jain(r.shares(settled, lasts)), r.spread(settled)
				t.Logf("used %.3f, refusals per 1000 %.1f, Jain %.3f of all, %.3f of the end, spread of long waits %.1f", used, per1000, r.jain, even, spread)
				assert.GreaterOrEqual(t, used, .985, "seed %d", seed)
				assert.LessOrEqual(t, per1000, 20., "seed %d", seed)
				mean += even / plays
			}
			assert.GreaterOrEqual(t, mean, fair)
		})
	}
}

// of is the result of one process alone.
func (r *result) of(c *client) *result { return &result{start: r.start, clients: []*client{c}} }

// shares is what each process got done from one time after the start to another.
func (r *result) shares(from, until time.Duration) (each []float64) {
	for _, c := range r.clients {
		each = append(each, float64(r.of(c).in(done, from, until)))
	}
	return each
}

// spread is how many times as long the long waits of one process are as those of another, from some time after the start on.
func (r *result) spread(from time.Duration) float64 {
	least, most := time.Duration(math.MaxInt64), time.Duration(0)
	for _, c := range r.clients {
		first := len(c.doneAt) - r.of(c).in(done, from, longest)
		p99 := quantile(c.waits[first:], .99)
		least, most = min(least, p99), max(most, p99)
	}
	return float64(most) / float64(max(least, time.Millisecond))
}
