package simulation

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

// Calls of two sizes, one twenty times the other, as many of each: requests and tokens then bind about equally.
const (
	smallCall  = 100
	largeCall  = 2000
	mixedQuota = quota * (smallCall + largeCall) / 2
	mixedBurst = 10 * largeCall
)

func mixedSize(seed uint64, i int) int {
	if sizeOf(seed, i)%2 == 0 {
		return smallCall
	}
	return largeCall
}

func mixed(seed uint64, i int) string { return prompt(mixedSize(seed, i)) }

var mixedBuckets = limits(throttletest.TokenBucket(quota, window, burst), throttletest.TokenBucket(mixedQuota, window, mixedBurst).Of(budget.Tokens))

// acquaintance is how long the first call may take, which goes alone.
const acquaintance = time.Second

// inPlace checks that nobody waits more than twice as long as in a queue in which nobody passes anybody: small calls may pass large ones only
// within that. Two units of requests are forgiven for the guard, and to calls made during the acquaintance with the server its length.
func inPlace(t *testing.T, f figures) {
	requests, tokens := turn{burst: burst, rate: quota / 60.}, turn{burst: mixedBurst, rate: mixedQuota / 60.}
	var last time.Time
	for _, m := range inOrder(f.calls) {
		size := float64(mixedSize(f.seed, m.index))
		last = latest(m.asked, last, requests.at(m.asked, 1), tokens.at(m.asked, size))
		requests.take(last, 1)
		tokens.take(last, size)
		most := 2*last.Sub(m.asked) + 2*window/quota
		if m.asked.Sub(f.start) < acquaintance {
			most += acquaintance
		}
		if m.waited > most {
			t.Errorf("call %d waited %v, at most %v is in place", m.index, m.waited, most)
			return // those behind it waited with it
		}
	}
}

// inOrder is calls in the order in which they were made.
func inOrder(calls []made) []made {
	return slices.SortedFunc(slices.Values(calls), func(a, b made) int { return cmp.Or(a.asked.Compare(b.asked), a.index-b.index) })
}

// turn is a bucket in which calls are served strictly in turn; its zero value but for burst and rate is full.
type turn struct {
	burst, rate float64
	full        time.Time // when it will be
}

func (u *turn) at(now time.Time, n float64) time.Time {
	at := u.full.Add(time.Duration((n - u.burst) / u.rate * float64(time.Second)))
	return latest(now, at)
}

func (u *turn) take(at time.Time, n float64) {
	u.full = latest(at, u.full).Add(time.Duration(n / u.rate * float64(time.Second)))
}

func latest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

var mixedScenarios = []scenario{
	{name: "sizes 1 to 20, declared", server: server(mixedBuckets),
		client: append(declare(budget.PerMinute(quota).WithBurst(burst), budget.PerMinute(mixedQuota).Of(budget.Tokens).WithBurst(mixedBurst)), counting),
		calls:  1500, body: mixed, bound: bothFull(quota, burst, mixedQuota, mixedBurst),
		want: want{ratio: 1.03, per1000: 1, check: inPlace, workers: []int{16, 256}}},
	{name: "sizes 1 to 20, headers", server: server(mixedBuckets, told(throttletest.Announce{Dialect: headers.OpenAI})),
		client: []throttle.Option{counting},
		calls:  1500, body: mixed, bound: bothFull(quota, burst, mixedQuota, mixedBurst),
		want: want{ratio: 1.03, per1000: 1, workers: []int{16, 256},
			short: "no wait above twice the place in the queue: until an answer shows that it is a bucket, the reset is waited for, once 12 s"}},
}

func TestSizesThatDiffer(t *testing.T) {
	t.Log(heading)
	for _, s := range mixedScenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			judge(t, s)
		})
	}
}
