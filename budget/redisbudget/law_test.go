package redisbudget

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed-18ca0a92/throttle/budget"
)

// testClock makes the script run on a clock that the test sets.
const testClock = "local now = tonumber(redis.call('GET', '{clock}'))\n"

var midnight = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

var algorithms = []budget.Algorithm{
	budget.TokenBucket, budget.LeakyBucket, budget.FixedWindow, budget.SlidingLog, budget.SlidingCounter,
}

// law is the budget of a key as the script keeps it, asked without an account.
type law struct {
	t        tester
	client   *redis.Client
	script   script
	names    names
	policies []budget.Policy
	opened   bool
	epoch    string
	fields   func(q *ask) // what a test adds to each ask
}

// tester is what both *testing.T and *rapid.T offer.
type tester interface {
	Errorf(format string, args ...any)
	FailNow()
	Helper()
}

func newLaw(t tester, client *redis.Client, key string, policies ...budget.Policy) *law {
	for i := range policies {
		policies[i] = policies[i].Resolve()
	}
	return &law{t: t, client: client, script: newScript(testClock), names: namesOf("test:", key), policies: policies}
}

// raw runs the script at a moment.
func (l *law) raw(now time.Time, q *ask) (*reply, error) {
	l.t.Helper()
	ctx := context.Background()
	require.NoError(l.t, l.client.Set(ctx, "{clock}", now.UnixMicro(), 0).Err())
	n := len(l.policies)
	q.policies, q.opens, q.process, q.life = describe(l.policies), !l.opened, "p", time.Minute
	q.nonce = fmt.Sprint("epoch ", now.UnixMicro())
	if q.epoch == "" {
		q.epoch = l.epoch
	}
	for _, v := range []*[]float64{&q.need, &q.more, &q.back, &q.memory} {
		if *v == nil {
			*v = make([]float64, n)
		}
	}
	if l.fields != nil {
		l.fields(q)
	}
	answer, err := l.script.run(ctx, l.client, l.names, q)
	require.NoError(l.t, err)
	return parse(answer)
}

func (l *law) ask(now time.Time, q *ask) *reply {
	l.t.Helper()
	r, err := l.raw(now, q)
	require.NoError(l.t, err)
	l.opened, l.epoch = true, r.epoch
	return r
}

// take reserves the next slot for n units of each policy, and says how far ahead it is.
func (l *law) take(now time.Time, n ...float64) time.Duration {
	l.t.Helper()
	r := l.ask(now, &ask{slots: 1, need: n, horizon: 200 * 365 * 24 * time.Hour})
	require.Len(l.t, r.slots, 1, "waits %v", r.wait)
	return r.slots[0].from
}

func (l *law) give(now time.Time, n ...float64) { l.ask(now, &ask{back: n}) }

// tolerance is what the clock of the script, in microseconds, may differ by from one in nanoseconds. A counter multiplies an error of
// the time by what the window holds.
func tolerance(p budget.Policy) time.Duration {
	return 30*time.Microsecond + time.Duration(1e-9*float64(p.Window))
}

// anyPolicy draws a policy whose limit a few calls exhaust.
func anyPolicy(a budget.Algorithm) *rapid.Generator[budget.Policy] {
	return rapid.Custom(func(t *rapid.T) budget.Policy {
		p := budget.Policy{
			Limit:     float64(rapid.IntRange(1, 12).Draw(t, "limit")),
			Window:    rapid.SampledFrom([]time.Duration{time.Second, 7 * time.Second, time.Minute, 24 * time.Hour}).Draw(t, "window"),
			Algorithm: a,
		}
		if a == budget.TokenBucket {
			p.Burst = float64(rapid.IntRange(1, 20).Draw(t, "burst"))
		}
		if a == budget.FixedWindow && rapid.Bool().Draw(t, "anchored") {
			p.Anchor = midnight.Add(-40*24*time.Hour + 1234*time.Millisecond)
		}
		return p.Resolve()
	})
}

// TestTheScriptCountsAsPackageBudgetDoes plays the same calls, debts and refunds into both.
func TestTheScriptCountsAsPackageBudgetDoes(t *testing.T) {
	client := startRedis(t).client()
	for _, a := range algorithms {
		t.Run(a.String(), func(t *testing.T) {
			key := 0
			rapid.Check(t, func(t *rapid.T) {
				key++
				p := anyPolicy(a).Draw(t, "policy")
				ours, err := budget.New(p)
				require.NoError(t, err)
				theirs := newLaw(t, client, fmt.Sprint(a, key), p)
				play(t, p, ours, theirs)
			})
		})
	}
}

func play(t *rapid.T, p budget.Policy, ours budget.Budget, theirs *law) {
	now := midnight.Add(time.Duration(rapid.IntRange(0, 1e6).Draw(t, "start")) * time.Millisecond)
	most := most(p)
	for range rapid.IntRange(1, 20).Draw(t, "steps") {
		now = now.Add(time.Duration(rapid.IntRange(0, 1500).Draw(t, "pause")) * p.Window / 1000).Truncate(time.Microsecond)
		n := float64(rapid.IntRange(1, int(most)).Draw(t, "n"))
		switch rapid.IntRange(0, 9).Draw(t, "step") {
		case 0:
			ours.Give(now, -n)
			theirs.give(now, -n)
		case 1:
			ours.Give(now, n)
			theirs.give(now, n)
		default:
			want, _ := ours.Wait(now, n)
			got := theirs.take(now, n)
			require.LessOrEqual(t, math.Abs(float64(want-got)), float64(tolerance(p)), "wait of %v for %v: want %v, got %v", now, n, want, got)
			ours.Take(now.Add(want), n)
			now = now.Add(max(want, got) + time.Microsecond).Truncate(time.Microsecond)
		}
	}
}
