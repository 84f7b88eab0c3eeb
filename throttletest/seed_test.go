package throttletest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-18ca0a92/throttle/headers"
)

// crowd lets eight clients send named calls as fast as they are answered, and returns what the server saw.
func crowd(t *testing.T, seed uint64) (log []string) {
	synctest.Test(t, func(t *testing.T) {
		u := NewUpstream(WithSeed(seed), WithLimits(TokenBucket(20, time.Second, 5)), WithAnnounce(Announce{Share: 0.5}),
			WithLatency(Latency{Network: 8 * time.Millisecond, Jitter: Exponential(10 * time.Millisecond), Service: LogNormal(120*time.Millisecond, 0.5)}),
			WithOutage(Outage{From: time.Second, For: time.Second, Share: 0.5}), WithForeign(Foreign{Gap: Exponential(time.Second / 4)}))
		var wg sync.WaitGroup
		for c := range 8 {
			wg.Go(func() {
				for n := range 20 {
					r := request("{}", IDHeader, fmt.Sprint(c, "/", n), ClientHeader, fmt.Sprint(c))
					if resp, err := u.RoundTrip(r); assert.NoError(t, err) {
						resp.Body.Close()
					}
				}
			})
		}
		wg.Wait()
		for _, a := range u.Arrivals() {
			log = append(log, fmt.Sprint(a.At.Sub(dawn), a.ID, a.Status))
		}
		log = append(log, fmt.Sprint(u.Stats().Foreign))
	})
	return log
}

func TestTheSameSeedGivesTheSameRun(t *testing.T) {
	first := crowd(t, 7)
	assert.Len(t, first, 161)
	for range 3 {
		assert.Equal(t, first, crowd(t, 7))
	}
	assert.NotEqual(t, first, crowd(t, 8))
}

func TestJitterReordersCalls(t *testing.T) {
	var arrived []string
	synctest.Test(t, func(t *testing.T) {
		u := NewUpstream(WithLatency(Latency{Jitter: Uniform(0, 60*time.Millisecond)}), WithDialect(headers.OpenAI))
		var wg sync.WaitGroup
		for n := range 20 {
			wg.Go(func() {
				if resp, err := u.RoundTrip(request("{}", IDHeader, fmt.Sprintf("%02d", n))); assert.NoError(t, err) {
					resp.Body.Close()
				}
			})
			time.Sleep(time.Millisecond)
		}
		wg.Wait()
		for _, a := range u.Arrivals() {
			arrived = append(arrived, a.ID)
		}
	})
	assert.Len(t, arrived, 20)
	assert.False(t, slices.IsSorted(arrived))
}
