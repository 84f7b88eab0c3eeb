package simulation

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

// The limits of the rows with requests and tokens: both bind about equally.
const (
	tokensPerCall = 100
	tokenQuota    = quota * tokensPerCall
	burst         = 60
	tokenBurst    = burst * tokensPerCall
)

// sizeOf draws how many tokens a call takes. Every call of a seed has its own, however often it is asked.
func sizeOf(seed uint64, i int) int {
	return tokensPerCall/5 + rand.New(rand.NewPCG(seed, uint64(i))).IntN(tokensPerCall*8/5+1)
}

// prompt is a body that takes that many tokens, of a server that charges the most that the answer may have.
func prompt(tokens int) string { return fmt.Sprintf(`{"max_tokens":%d}`, tokens) }

// costOf reads what a call costs from its body, as the server does.
func costOf(req *http.Request) budget.Cost {
	body, err := req.GetBody()
	if err != nil {
		return nil
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	if err != nil {
		return nil
	}
	var n float64
	if _, err := fmt.Sscanf(string(text), `{"max_tokens":%g}`, &n); err != nil {
		return nil
	}
	return budget.Cost{budget.Tokens: n}
}

var counting = throttle.WithCost(costOf)

// bothFull is the least time in which buckets of requests and of tokens can serve the work, and the workers can do it: none can be quicker, and a client
// that knows everything is as quick as the slowest.
func bothFull(perMinute, burst, tokensPerMinute, tokenBurst float64) func(figures) time.Duration {
	return func(f figures) time.Duration {
		calls := (f.stats.Spent[budget.Requests] - burst) / perMinute
		tokens := (f.stats.Spent[budget.Tokens] - tokenBurst) / tokensPerMinute
		once := serviceMean + 2*oneWay + f.jitter
		return max(time.Duration(max(calls, tokens)*float64(time.Minute))+once, time.Duration(len(f.calls)/f.workers)*once)
	}
}

var twoBuckets = limits(throttletest.TokenBucket(quota, window, burst), throttletest.TokenBucket(tokenQuota, window, tokenBurst).Of(budget.Tokens))

var dualScenarios = []scenario{
	{name: "requests and tokens, declared", server: server(twoBuckets),
		client: append(declare(budget.PerMinute(quota).WithBurst(burst), budget.PerMinute(tokenQuota).Of(budget.Tokens).WithBurst(tokenBurst)), counting),
		calls:  work, body: func(seed uint64, i int) string { return prompt(sizeOf(seed, i)) }, bound: bothFull(quota, burst, tokenQuota, tokenBurst),
		want: want{ratio: 1.007, per1000: 0, rough: 0.4}},
	{name: "requests and tokens, headers", server: server(twoBuckets, told(throttletest.Announce{Dialect: headers.OpenAI})),
		client: []throttle.Option{counting},
		calls:  work, body: func(seed uint64, i int) string { return prompt(sizeOf(seed, i)) }, bound: bothFull(quota, burst, tokenQuota, tokenBurst),
		want: want{ratio: 1.007, per1000: 0}},
	{name: "two windows of tokens, headers", server: server(limits(throttletest.FixedWindow(quota, window), throttletest.FixedWindow(tokenQuota, window).Of(budget.Tokens)), told(throttletest.Announce{})),
		client: []throttle.Option{counting}, cost: budget.Cost{budget.Tokens: tokensPerCall},
		calls: work, body: func(uint64, int) string { return prompt(tokensPerCall) }, want: want{ratio: 1.03, per1000: 0.2, workers: []int{16}}},
	{name: "minute and day, declared", server: server(limits(throttletest.FixedWindow(500, window), throttletest.Daily(10_000))),
		client: declare(budget.PerMinute(500).Using(budget.FixedWindow), budget.PerDay(10_000).Using(budget.FixedWindow)), calls: 2250, want: want{ratio: 1.02, per1000: 0}},
	{name: "minute and day, both told", server: server(limits(throttletest.FixedWindow(500, window).Named("minute"), throttletest.Daily(10_000).Named("day")), told(throttletest.Announce{Dialect: headers.RateLimitList})),
		client: declare(budget.PerMinute(500), budget.PerDay(10_000)), calls: 2250, want: want{ratio: 1.02, per1000: 0.2}},
	{name: "minute and day, headers", server: server(limits(throttletest.FixedWindow(500, window).Named("minute"), throttletest.Daily(10_000).Named("day")), told(throttletest.Announce{Dialect: headers.RateLimitList})),
		calls: 2250, want: want{ratio: 1.03, per1000: 0.2}},
	{name: "second and minute, headers", server: server(limits(throttletest.FixedWindow(20, time.Second).Named("second"), throttletest.FixedWindow(quota, window).Named("minute")), told(throttletest.Announce{Dialect: headers.RateLimitList, Round: throttletest.Exact})),
		calls: work, want: want{ratio: 1.03, per1000: 0.6, short: "0.2: in one seed of five, with 10 ms of jitter, a few calls are on the wrong side of a second's edge"}},
	{name: "second and minute, declared", server: server(limits(throttletest.FixedWindow(20, time.Second), throttletest.FixedWindow(quota, window)), told(throttletest.Announce{})),
		client: declare(budget.PerSecond(20), budget.PerMinute(quota)), calls: work, want: want{ratio: 1.03, per1000: 0.6, short: "0.2: likewise"}},
}

func TestSeveralLimitsAtOnce(t *testing.T) {
	t.Log(heading)
	for _, s := range dualScenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			judge(t, s)
		})
	}
}
