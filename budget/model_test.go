package budget_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed-18ca0a92/throttle/budget"
)

// model is a law written down once more, as plainly as possible and at any cost in time and memory. Each law's test file has its own.
type model interface {
	// judge fails t unless n may leave d after now and, when d is above 0, not sooner.
	judge(t tester, now time.Time, n float64, d time.Duration)
	take(now time.Time, n float64) // debt too
	give(now time.Time, n float64)
}

// againstModel plays random calls, debts and refunds into a budget and into its model, and holds every Wait of the one against the other.
func againstModel(t *testing.T, a budget.Algorithm, newModel func(p budget.Policy) model) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.OneOf(smallPolicy(a), anyPolicy(a)).Draw(t, "policy").Resolve()
		b, m := mustNew(t, p), newModel(p)
		now := midnight
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(pause(p.Window).Draw(t, "pause"))
			n := amount(p).Draw(t, "n")
			d, ever := b.Wait(now, n)
			require.True(t, ever)
			m.judge(t, now, n, d)
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				b.Give(now, -n)
				m.take(now, n)
			case 1:
				b.Give(now, n)
				m.give(now, n)
			default:
				now = now.Add(d)
				b.Take(now, n)
				m.take(now, n)
			}
		}
	})
}

// callers draws a policy and lets a random mix of patient and idle calls out of its budget.
func callers(t *rapid.T, policies *rapid.Generator[budget.Policy]) (budget.Policy, []call) {
	p := policies.Draw(t, "policy").Resolve()
	b := mustNew(t, p)
	now := midnight.Add(pause(p.Window).Draw(t, "start"))
	var out []call
	for range rapid.IntRange(1, 80).Draw(t, "calls") {
		now = now.Add(pause(p.Window).Draw(t, "pause"))
		n := amount(p).Draw(t, "n")
		d, _ := b.Wait(now, n)
		now = now.Add(d)
		b.Take(now, n)
		out = append(out, call{now, n})
	}
	return p, out
}

// A margin g after At, and a network that holds each call up by something between nothing and g: a server that counts by the
// same law never has to refuse, although calls overtake each other on the way.
func absorbsJitter(t *testing.T, a budget.Algorithm) {
	rapid.Check(t, func(t *rapid.T) {
		p := smallPolicy(a).Draw(t, "policy")
		client, server := mustNew(t, p), mustNew(t, p)
		margin := pause(p.Window/10).Draw(t, "margin")
		now := midnight
		var arrivals []call
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			now = now.Add(pause(p.Window/5).Draw(t, "pause"))
			n := amount(p).Draw(t, "n")
			at, _ := client.At(now, n)
			if due := at.Add(margin); due.After(now) {
				now = due
			}
			client.Take(now, n)
			delay := time.Duration(rapid.Float64Range(0, 1).Draw(t, "delay") * float64(margin))
			arrivals = append(arrivals, call{now.Add(delay), n})
		}
		for _, c := range inOrder(arrivals) {
			d, _ := server.Wait(c.at, c.n)
			rounding := time.Duration(1 + 1e-12*float64(p.Window))
			require.LessOrEqual(t, d, rounding, "refused at %v", c.at)
			server.Take(c.at.Add(d), c.n)
		}
	})
}
