package bank

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func window(limit int, span time.Duration) func(*world) server {
	return func(*world) server { return &fixedServer{limit: limit, span: span} }
}

func sliding(limit int, span time.Duration, harsh bool) func(*world) server {
	return func(*world) server { return &logServer{limit: limit, span: span, harsh: harsh} }
}

func bucket(rate, burst float64) func(*world) server {
	return func(*world) server { return &bucketServer{rate: rate, burst: burst} }
}

// down turns everything away for a time that begins somewhere in the second or third minute.
func down(shortest, longest time.Duration, s func(*world) server) func(*world) server {
	return func(w *world) server {
		from := w.start + 30*time.Second + w.between(0, time.Minute)
		return &downServer{server: s(w), from: from, until: from + w.between(shortest, longest)}
	}
}

func scenarios() []scenario {
	return []scenario{
		{name: "fixed", calls: 550, server: window(100, time.Minute)},
		{name: "fixed10", calls: 1050, server: window(100, 10*time.Second)},
		{name: "fixed1", calls: 1005, server: window(10, time.Second)},
		{name: "fixedhour", calls: 2500, server: window(1000, time.Hour)},
		{name: "phased", calls: 550, server: func(w *world) server {
			return &fixedServer{limit: 100, span: time.Minute, phase: w.between(0, time.Minute)}
		}},
		{name: "onfirst", calls: 550, server: func(w *world) server {
			return &fixedServer{limit: 100, span: time.Minute, onFirst: true}
		}},
		{name: "sliding", calls: 550, server: sliding(100, time.Minute, false)},
		{name: "harsh", calls: 550, server: sliding(100, time.Minute, true), ideal: sliding(100, time.Minute, false)},
		{name: "bucket", calls: 500, server: bucket(5, 20)},
		{name: "bucket50", calls: 5000, server: bucket(50, 100)},
		{name: "leaky", calls: 500, server: bucket(5, 1)},
		{name: "slots", calls: 500, service: 450 * time.Millisecond, server: func(*world) server { return &slotServer{slots: 8} }, ideal: func(*world) server { return &openServer{} }, idealWorkers: 8},
		{name: "outage", calls: 500, server: down(20*time.Second, 40*time.Second, bucket(5, 20))},
		{name: "outagefix", calls: 550, server: down(20*time.Second, 40*time.Second, window(100, time.Minute))},
		{name: "storm", calls: 550, server: down(10*time.Second, 20*time.Second, window(100, time.Minute))},
		{name: "stormbucket", calls: 500, server: down(10*time.Second, 20*time.Second, bucket(5, 20))},
		{name: "g5", calls: 100000, service: 500 * time.Millisecond, lasts: 1800 * time.Second, server: bucket(10, 100)},
		{name: "g5b", calls: 100000, service: 500 * time.Millisecond, lasts: 1800 * time.Second, server: bucket(10, 10)},
		{name: "g6d", calls: 100000, service: 500 * time.Millisecond, lasts: 1200 * time.Second, server: func(w *world) server {
			return &changingServer{&bucketServer{rate: 30, burst: 20}, &bucketServer{rate: 10, burst: 20}, w.start + 600*time.Second}
		}},
		{name: "g6u", calls: 100000, service: 500 * time.Millisecond, lasts: 1200 * time.Second, server: func(w *world) server {
			return &changingServer{&bucketServer{rate: 10, burst: 20}, &bucketServer{rate: 30, burst: 20}, w.start + 600*time.Second}
		}},
		{name: "g8", clients: 10, calls: 200000, service: 200 * time.Millisecond, lasts: 1800 * time.Second, server: bucket(20, 20)},
		{name: "ban", calls: 550, server: func(*world) server {
			return &banServer{server: &fixedServer{limit: 100, span: time.Minute}, tolerated: 5}
		}},
		{name: "banbucket", calls: 500, server: func(*world) server {
			return &banServer{server: &bucketServer{rate: 5, burst: 20}, tolerated: 5}
		}},
		{name: "up", calls: 3000, server: func(w *world) server {
			return &changingServer{&bucketServer{rate: 5, burst: 20}, &bucketServer{rate: 15, burst: 20}, w.start + 100*time.Second}
		}},
		{name: "down", calls: 3000, server: func(w *world) server {
			return &changingServer{&bucketServer{rate: 15, burst: 20}, &bucketServer{rate: 5, burst: 20}, w.start + 100*time.Second}
		}},
		{name: "fixup", calls: 3050, server: func(w *world) server {
			return &changingServer{&fixedServer{limit: 100, span: time.Minute}, &fixedServer{limit: 300, span: time.Minute}, w.start + 300*time.Second}
		}},
		{name: "fixdown", calls: 1550, server: func(w *world) server {
			return &changingServer{&fixedServer{limit: 300, span: time.Minute}, &fixedServer{limit: 100, span: time.Minute}, w.start + 150*time.Second}
		}},
	}
}

// A refusal or two for each law that is tried, and then the whole quota.
func TestLawsAreFound(t *testing.T) {
	const seeds = 6
	for _, s := range scenarios() {
		for _, hints := range []bool{false, true} {
			s.workers, s.jitter, s.hints = 16, 3*time.Millisecond, hints
			var ratio, refused float64
			var lost, left, bans int
			for seed := range uint64(seeds) {
				r := s.play(seed)
				ratio += r.ratio / seeds
				refused += r.per1000 / seeds
				lost += r.lost
				left += r.left
				bans += r.bans
			}
			assert.Zero(t, lost, s.name)
			assert.LessOrEqual(t, refused, 35., s.name)
			if s.lasts == 0 {
				assert.Zero(t, left, s.name)
				assert.LessOrEqual(t, ratio, 1.2, s.name)
			}
			if s.name != "banbucket" || !hints { // there a bucket's hint sends the refused calls back too soon; one ban a run
				assert.Zero(t, bans, s.name)
			}
			t.Logf("%-9s hints %5v: makespan %.3f of the least, %.1f refused per 1000, lost %d, left %d, bans %d", s.name, hints, ratio, refused, lost, left, bans)
		}
	}
}
