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
func busy(lasts time.Duration, s func(*world) server) scenario {
	return scenario{calls: endless, workers: 64, service: 500 * time.Millisecond, jitter: 10 * time.Millisecond, lasts: lasts, server: s}
}

// A bucket that says nothing is used up, once it is known, at the price of few refusals.
func TestAKnownBucketIsUsedUp(t *testing.T) {
	const rate, warm, lasts = 10.0, time.Minute, 30 * time.Minute
	for _, burst := range []float64{10, 100} {
		for _, jitter := range []time.Duration{3 * time.Millisecond, 10 * time.Millisecond, 60 * time.Millisecond} {
			t.Run(fmt.Sprintf("burst %v/%v", burst, jitter), func(t *testing.T) {
				t.Parallel()
				s := busy(lasts, bucket(rate, burst))
				s.jitter = jitter
				for seed := range uint64(6) {
					r := s.play(seed)
					let := r.in(done, warm, lasts)
					used := float64(let) / (rate * (lasts - warm).Seconds())
					per1000 := 1000 * float64(r.in(turnedOff, warm, lasts)) / float64(let)
					t.Logf("used %.3f, refusals per 1000 %.1f", used, per1000)
					assert.GreaterOrEqual(t, used, .985, "seed %d", seed)
					assert.LessOrEqual(t, per1000, 5., "seed %d", seed)
				}
			})
		}
	}
}

// regained is when nine tenths of a rate were let in for ten seconds, after a moment.
func regained(r *result, rate float64, after, lasts time.Duration) time.Duration {
	const span = 10 * time.Second
	for at := after; at+span <= lasts; at += time.Second {
		if float64(r.in(done, at, at+span)) >= .9*rate*span.Seconds() {
			return at - after
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
		for _, jitter := range []time.Duration{3 * time.Millisecond, 10 * time.Millisecond} {
			t.Run(fmt.Sprintf("%s/%v", c.name, jitter), func(t *testing.T) {
				t.Parallel()
				s := busy(lasts, changing(change, bucket(c.before, 20), bucket(c.after, 20)))
				s.jitter = jitter
				for seed := range uint64(6) {
					r := s.play(seed)
					took, refusals := regained(&r, c.after, change, lasts), r.in(turnedOff, change, lasts)
					t.Logf("found again after %v, %d refusals", took, refusals)
					assert.LessOrEqual(t, took, c.soon, "seed %d", seed)
					assert.LessOrEqual(t, refusals, c.refusals, "seed %d", seed)
				}
			})
		}
	}
}

// Processes that know nothing of each other, and a server that says nothing: they use it up, and share it.
func TestBlindProcessesShare(t *testing.T) {
	const rate, warm, settled, lasts = 20.0, time.Minute, 10 * time.Minute, 30 * time.Minute
	for _, clients := range []int{2, 10} {
		t.Run(fmt.Sprintf("%d processes", clients), func(t *testing.T) {
			t.Parallel()
			s := scenario{
				calls: endless, clients: clients, workers: 8, service: 200 * time.Millisecond, jitter: 10 * time.Millisecond, lasts: lasts,
				server: bucket(rate, 20),
			}
			for seed := range uint64(6) {
				r := s.play(seed)
				let := r.in(done, warm, lasts)
				used := float64(let) / (rate * (lasts - warm).Seconds())
				per1000 := 1000 * float64(r.in(turnedOff, warm, lasts)) / float64(let)
				t.Logf("used %.3f, refusals per 1000 %.1f, Jain %.3f, later %.3f, p99 of waits %.1f s, spread %.1f", used, per1000, r.jain, jain(r.shares(settled, lasts)), r.p99.Seconds(), r.spread())
				assert.GreaterOrEqual(t, used, .985, "seed %d", seed)
				assert.LessOrEqual(t, per1000, 20., "seed %d", seed)
				assert.GreaterOrEqual(t, r.jain, .96, "seed %d", seed)
			}
		})
	}
}

// spread is how much longer the longest waits of one process are than those of another.
func (r *result) spread() float64 {
	least, most := time.Duration(math.MaxInt64), time.Duration(0)
	for _, c := range r.clients {
		p99 := quantile(c.waits, .99)
		least, most = min(least, p99), max(most, p99)
	}
	return float64(most) / float64(max(least, time.Millisecond))
}

// shares is what each process got done from one time after the start to another.
func (r *result) shares(from, until time.Duration) (each []float64) {
	for _, c := range r.clients {
		alone := result{start: r.start, clients: []*client{c}}
		each = append(each, float64(alone.in(done, from, until)))
	}
	return each
}
