package throttletest

import (
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestBadOptionsAreErrors(t *testing.T) {
	day := 24 * time.Hour
	fixed := FixedWindow(1, time.Second)
	for want, opt := range map[string]Option{
		"limits: an empty Limit":                           WithLimits(Limit{}),
		"limits: a limit of 0 units":                       WithLimits(fixed, FixedWindow(0, time.Second)),
		"limits: a limit of NaN units":                     WithLimits(FixedWindow(math.NaN(), time.Second)),
		"limits: a limit of +Inf units":                    WithLimits(Concurrency(math.Inf(1))),
		"limits: a window of 0s":                           WithLimits(SlidingLog(1, 0)),
		"limits: a step of 7s in a window of 1m0s":         WithLimits(Quantised(60, time.Minute, 7*time.Second)),
		"limits: a step of 0s in a window of 1m0s":         WithLimits(Quantised(60, time.Minute, 0)),
		"limits: burst -1, depth 0":                        WithLimits(TokenBucket(1, time.Second, -1)),
		"limits: burst 0, depth -1":                        WithLimits(LeakyQueue(1, time.Second, -1)),
		"limits: burst 0, depth 0, drawn -3":               WithLimits(fixed.WithDrawn(-3)),
		"limits: 30 units per 1m0s in steps of 1s":         WithLimits(Quantised(30, time.Minute, time.Second)),
		"limits: burst NaN":                                WithLimits(TokenBucket(1, time.Second, math.NaN())),
		"limits: burst +Inf":                               WithLimits(TokenBucket(1, time.Second, math.Inf(1))),
		"one of the options is nil":                        nil,
		"limits: a change to 0 units after 1s":             WithLimits(fixed.ChangedTo(0, time.Second)),
		"limits: a change to 2 units after 0s":             WithLimits(fixed.ChangedTo(2, 0)),
		"limits: a change to 3 units after 1s":             WithLimits(fixed.ChangedTo(2, time.Second).ChangedTo(3, time.Second)),
		`resource "x": match is nil`:                       WithResource("x", nil),
		"limits: a window of -1ns":                         WithResource("x", func(*http.Request) bool { return true }, FixedWindow(1, -1)),
		"key: the function is nil":                         WithKey(nil),
		"cost: the function is nil":                        WithCost(nil),
		"answer: the function is nil":                      WithAnswer(nil),
		"faults: the function is nil":                      WithFaults(nil),
		"announce: a share must lie in 0..1":               WithAnnounce(Announce{Share: 1.1}),
		"announce: a share must lie in 0..1 and a grain":   WithAnnounce(Announce{Grain: -1}),
		"announce: 99 is not a dialect":                    WithDialect(99),
		"announce: freeze: -1ns is negative":               WithAnnounce(Announce{Freeze: -1}),
		"refusal status 100":                               WithRefusalStatus(100),
		"latency: -1ns is negative":                        WithLatency(Latency{Network: -1}),
		"latency: jitter: durations":                       WithLatency(Latency{Jitter: Uniform(2, 1)}),
		"latency: service: durations":                      WithLatency(Latency{Service: LogNormal(day, 6)}),
		"output tokens: mean 0":                            WithOutputTokens(0, 0),
		"output tokens: mean 5 must be positive, sigma -1": WithOutputTokens(5, -1),
		"outage: the span must be positive":                WithOutage(Outage{}),
		"outage: ":                                         WithOutage(Outage{For: 1, Share: 2}),
		"outage: the span must be positive, the share":     WithOutage(Outage{For: 1, Share: math.NaN()}),
		"ban: refusals":                                    WithBan(Ban{Refusals: 1}),
		"foreign: the mean gap 0s":                         WithForeign(Foreign{}),
		"foreign: gap: durations":                          WithForeign(Foreign{Gap: Uniform(-1, 10)}),
		"log: -1 is negative":                              WithLog(-1),
	} {
		u, err := New(opt)
		assert.Nil(t, u, want)
		assert.ErrorContains(t, err, "throttletest: "+want)
		assert.Panics(t, func() { NewUpstream(opt) }, want)
	}
}

func TestLimitsAreValues(t *testing.T) {
	base := FixedWindow(1, time.Second).ChangedTo(2, time.Minute)
	a, b := base.ChangedTo(3, time.Hour), base.ChangedTo(4, time.Hour)
	assert.Equal(t, 3.0, a.changes[1].units)
	assert.Equal(t, 4.0, b.changes[1].units)
	assert.Len(t, base.changes, 1)
}
