package simulation

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

// The work: off the step, so that a single lost slot does not cost a whole window, nor hide behind one.
const (
	quota  = 600
	window = time.Minute
	work   = quota*5 - quota/2
)

func limits(l ...throttletest.Limit) throttletest.Option { return throttletest.WithLimits(l...) }

func told(a throttletest.Announce) throttletest.Option { return throttletest.WithAnnounce(a) }

func declare(p ...budget.Policy) []throttle.Option {
	return []throttle.Option{throttle.WithPolicies(p...)}
}

func server(o ...throttletest.Option) []throttletest.Option { return o }

// everyone is all the settings that the goals are asked in.
var (
	everyWorkers = []int{1, 16, 256}
	everyJitter  = []time.Duration{3 * time.Millisecond, 10 * time.Millisecond, roughJitter}
)

// exact is a reset in milliseconds, which some servers tell.
var exact = throttletest.Announce{Round: throttletest.Exact}

// patient is a client that outlasts an outage without a hint: its calls may be processed twice, and have many attempts.
var patient = []throttle.Option{throttle.WithMaxAttempts(30), throttle.WithIdempotent(func(*http.Request) bool { return true })}

// neverLeft is a server that says of every call that nothing is left, whatever is.
var neverLeft = []throttle.Option{throttle.WithReport(func(r *headers.Report, _ *http.Response, _ func() []byte) {
	for i := range r.Quotas {
		r.Quotas[i].Remaining = headers.Some(0.0)
	}
})}

// others is what somebody else draws of a window that ten processes share.
const others = 360

// undisturbed checks that others on the same limits hardly notice us: of a thousand calls of theirs, a few are refused.
func undisturbed(t *testing.T, all []figures) {
	var f throttletest.Count
	for _, one := range all {
		f.Arrivals += one.stats.Foreign.Arrivals
		f.Refused += one.stats.Foreign.Refused
	}
	assert.LessOrEqual(t, f.Refused, f.Arrivals*5/1000, "calls of others that are refused")
}

var announcedScenarios = []scenario{
	{name: "fixed window, declared", server: server(limits(throttletest.FixedWindow(quota, window)), told(throttletest.Announce{})),
		client: declare(budget.PerMinute(quota)), calls: work, want: want{ratio: 1.02, per1000: 0.2, wait: throughWindow}},
	{name: "fixed window, headers", server: server(limits(throttletest.FixedWindow(quota, window)), told(throttletest.Announce{})),
		calls: work, want: want{ratio: 1.03, per1000: 0.2, wait: throughWindow}},
	{name: "fixed window, exact resets", server: server(limits(throttletest.FixedWindow(quota, window)), told(exact)),
		calls: work, want: want{ratio: 1.03, per1000: 0.2}},
	{name: "fixed window, resets rounded down", server: server(limits(throttletest.FixedWindow(quota, window)), told(throttletest.Announce{Round: throttletest.Down})),
		calls: work, want: want{ratio: 1.03, per1000: 0.4}}, // one call finds out that the edge is later than it was told
	{name: "fixed window, resets to nearest", server: server(limits(throttletest.FixedWindow(quota, window)), told(throttletest.Announce{Round: throttletest.Nearest})),
		calls: work, want: want{ratio: 1.03, per1000: 0.4}}, // likewise
	{name: "fixed window, epoch, clock skewed", server: server(limits(throttletest.FixedWindow(quota, window)), throttletest.WithClockSkew(-3*time.Minute), told(throttletest.Announce{Dialect: headers.XRateLimitEpoch})),
		calls: work, want: want{ratio: 1.03, per1000: 0.2}},
	{name: "fixed window, RFC 3339, skewed", server: server(limits(throttletest.FixedWindow(quota, window)), throttletest.WithClockSkew(4*time.Minute), told(throttletest.Announce{Dialect: headers.Anthropic})),
		calls: work, want: want{ratio: 1.03, per1000: 0.2}},
	{name: "fixed window, IETF list", server: server(limits(throttletest.FixedWindow(quota, window)), told(throttletest.Announce{Dialect: headers.RateLimitList})),
		calls: work, want: want{ratio: 1.03, per1000: 0.2}},
	{name: "fixed window, headers now and then", server: server(limits(throttletest.FixedWindow(quota, window)), told(throttletest.Announce{Share: 0.3})),
		calls: work, want: want{ratio: 1.03, per1000: 0.2}},
	{name: "fixed window, from the first call", server: server(limits(throttletest.OpenedWindow(quota, window)), told(throttletest.Announce{})),
		calls: work, want: want{ratio: 1.03, per1000: 0.2}},
	{name: "fixed window, partly drawn before", server: server(limits(throttletest.FixedWindow(quota, window).WithDrawn(200)), told(throttletest.Announce{})),
		client: declare(budget.PerMinute(quota)), calls: work, want: want{ratio: 1.03, per1000: 0.2}},
	{name: "quantised, declared evenly", server: server(limits(throttletest.Quantised(quota, window, time.Second)), told(throttletest.Announce{})),
		client: declare(budget.PerMinute(quota).Using(budget.LeakyBucket)), calls: work, want: want{ratio: 1.06, per1000: 0.1}},
	{name: "quantised, headers that hide it", server: server(limits(throttletest.Quantised(quota, window, time.Second)), told(throttletest.Announce{})),
		calls: work, want: want{ratio: 1.25, crowded: 1.3, per1000: 14, crowd: 195, short: "1.06 and 0.1: only a declared even pace reaches it, see the row above"}}, // the headers promise 600 at once, and only refusals show that it is 10 a second
	{name: "sliding log, headers", server: server(limits(throttletest.SlidingLog(quota, window)), told(throttletest.Announce{Reset: throttletest.UntilNext})),
		calls: work, want: want{ratio: 1.03, per1000: 3.5}},
	{name: "sliding log, resets until full", server: server(limits(throttletest.SlidingLog(quota, window)), told(throttletest.Announce{})),
		calls: work, want: want{ratio: 1.03, per1000: 3.5}},
	{name: "sliding log, declared", server: server(limits(throttletest.SlidingLog(quota, window))),
		client: declare(budget.PerMinute(quota)), calls: work, want: want{ratio: 1.03, per1000: 0, rough: 0.4}},
	{name: "sliding counter, headers", server: server(limits(throttletest.SlidingCounter(quota, window)), told(throttletest.Announce{Reset: throttletest.UntilWindow})),
		calls: work, want: want{ratio: 1.03, per1000: 3.5}},
	{name: "token bucket, headers", server: server(limits(throttletest.TokenBucket(quota, window, 60)), told(throttletest.Announce{Dialect: headers.OpenAI})),
		calls: work, want: want{ratio: 1.005, per1000: 0, rough: 1, wait: throughBucket}},
	{name: "token bucket, full burst, headers", server: server(limits(throttletest.TokenBucket(quota, window, quota)), told(throttletest.Announce{Dialect: headers.OpenAI})),
		calls: work, want: want{ratio: 1.005, per1000: 0}},
	{name: "token bucket, never anything left", server: server(limits(throttletest.TokenBucket(quota, window, 60)), told(throttletest.Announce{})),
		client: neverLeft, calls: work, want: want{ratio: 1.02, per1000: 0, workers: everyWorkers[1:]}},
	{name: "token bucket, full within a second", server: server(limits(throttletest.TokenBucket(10, time.Second, 5)), told(throttletest.Announce{})),
		calls: quota, want: want{ratio: 1.05, per1000: 0, workers: everyWorkers[1:]}},
	{name: "token bucket, declared", server: server(limits(throttletest.TokenBucket(quota, window, 60))),
		client: declare(budget.PerMinute(quota).WithBurst(60)), calls: work, want: want{ratio: 1.005, per1000: 0, wait: throughBucket}},
	{name: "token bucket, declared too high", server: server(limits(throttletest.TokenBucket(quota, window, 60)), told(throttletest.Announce{Dialect: headers.OpenAI})),
		client: declare(budget.PerMinute(2 * quota)), calls: work, want: want{ratio: 1.005, per1000: 0}},
	{name: "bucket of burst 1, declared", server: server(limits(throttletest.TokenBucket(60, window, 1))),
		client: declare(budget.PerMinute(60).WithBurst(1)), calls: 300, want: want{ratio: 1.03, per1000: 0, rough: 9.5, uneven: 1.09,
			short: "0 at 60 ms: the guard does not know at first that the network is so uneven, and three refusals tell it"}},
	{name: "leaky queue, declared", server: server(limits(throttletest.LeakyQueue(quota, window, 10))),
		client: declare(budget.PerMinute(quota).WithBurst(10)), calls: work, want: want{ratio: 1.02, alone: 1.03, per1000: 0}},
	{name: "concurrency cap, declared", server: server(limits(throttletest.Concurrency(8))),
		client: []throttle.Option{throttle.WithMaxInFlight(8)}, calls: work, want: want{ratio: idle * 1.02, uneven: mostIdle * 1.02, per1000: 0, workers: everyWorkers[1:]}},
	{name: "concurrency cap, announced", server: server(limits(throttletest.Concurrency(8).Announced()), told(listed)),
		calls: work, want: want{ratio: idle * 1.02, uneven: mostIdle * 1.02, per1000: 0, workers: everyWorkers[1:]}},
	{name: "outage, declared, hint", server: server(limits(throttletest.FixedWindow(quota, window)), told(throttletest.Announce{}), throttletest.WithOutage(throttletest.Outage{From: 70 * time.Second, For: 45 * time.Second, Status: 503, Hint: true})),
		client: declare(budget.PerMinute(quota)), calls: work, want: want{ratio: 1.02, per1000: 8, crowd: 80}}, // a crowd that opens a window while the server is away
	{name: "outage, declared, mute", server: server(limits(throttletest.FixedWindow(quota, window)), told(throttletest.Announce{}), throttletest.WithOutage(throttletest.Outage{From: 70 * time.Second, For: 45 * time.Second, Status: 503})),
		client: append(declare(budget.PerMinute(quota)), patient...), calls: work, want: want{ratio: 1.014, alone: 1.11, per1000: 10, crowd: 80, lostToo: 150,
			short: "0.3: five calls in a row must fail before it is believed, and a crowd that opens a window fails as a whole, which is more than the retry budget holds"}},
	{name: "storm of refusals, declared", server: one(throttletest.TokenBucket(quota, window, 60)), varied: down(429, 10*time.Second, 20*time.Second),
		client: declare(budget.PerMinute(quota).WithBurst(60)), calls: work, want: want{ratio: 1.033, per1000: 11}},
	{name: "storm of refusals, headers", server: server(limits(throttletest.TokenBucket(quota, window, 60)), told(throttletest.Announce{Dialect: headers.OpenAI}), mute), varied: down(429, 10*time.Second, 20*time.Second),
		calls: work, want: want{ratio: 1.033, per1000: 11}},
	{name: "load below the limit, declared", server: server(limits(throttletest.TokenBucket(quota, window, 60))),
		client: declare(budget.PerMinute(quota).WithBurst(60)), calls: work, want: want{ratio: 1.02, per1000: 0, wait: noWait, workers: everyWorkers[:1]}},
	{name: "load below the limit, headers", server: server(limits(throttletest.FixedWindow(quota, window)), told(throttletest.Announce{})),
		calls: work, want: want{ratio: 1.02, per1000: 0, wait: noWait, workers: everyWorkers[:1]}},
	{name: "two processes, bucket, headers", server: server(limits(throttletest.TokenBucket(quota, window, 60)), told(throttletest.Announce{Dialect: headers.OpenAI})),
		processes: 2, calls: work, want: want{ratio: 1.02, per1000: 3.3, jain: 0.99, spread: 2, workers: everyWorkers[:2]}},
	{name: "two processes, bucket, crowds", server: server(limits(throttletest.TokenBucket(quota, window, 60)), told(throttletest.Announce{Dialect: headers.OpenAI})),
		processes: 2, calls: work, want: want{ratio: 1.02, per1000: 3.5, rough: 8, jain: 0.95, spread: 2, workers: []int{256},
			short: "3.3 with 60 ms of jitter: many calls leave before each knows of the other"}},
	{name: "ten processes, window, headers", server: server(limits(throttletest.FixedWindow(2*quota, window)), told(throttletest.Announce{})),
		processes: 10, calls: 30*quota - quota, want: want{ratio: 1.015, late: window, per1000: 0.5, jain: 0.98, spread: 1.5, use: 0.985, limit: 2 * quota, workers: []int{8}}},
	{name: "ten processes and others, window", server: server(limits(throttletest.FixedWindow(2*quota, window)), told(throttletest.Announce{}), throttletest.WithForeign(throttletest.Foreign{Gap: throttletest.Exponential(window / others)})),
		processes: 10, calls: 11*(2*quota-others) - quota, fair: (2*quota - others) / (2. * quota),
		want: want{ratio: 1.015, late: window, per1000: 2, jain: 0.98, spread: 1.5, use: 0.985, limit: 2*quota - others, together: undisturbed, workers: []int{8}}},
	{name: "ten processes, bucket, headers", server: server(limits(throttletest.TokenBucket(2*quota, window, 100)), told(throttletest.Announce{Dialect: headers.OpenAI})),
		processes: 10, calls: 30*quota - quota, want: want{ratio: 1.02, per1000: 3, jain: 0.95, spread: 2, use: 0.985, limit: 2 * quota, workers: []int{8}}},
	{name: "foreign consumer, window", server: server(limits(throttletest.FixedWindow(quota, window)), told(throttletest.Announce{}), throttletest.WithForeign(throttletest.Foreign{Gap: throttletest.Exponential(300 * time.Millisecond)})),
		calls: 10 * quota, fair: 2. / 3, want: want{ratio: 1.015, late: window, per1000: 2}},
}

func TestAnnouncedLimitsAreUsedWhole(t *testing.T) {
	t.Log(heading)
	for _, s := range announcedScenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			judge(t, s)
		})
	}
}
