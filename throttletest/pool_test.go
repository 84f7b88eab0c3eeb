package throttletest

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-18ca0a92/throttle/budget"
)

// judged is a limit of a pool under test, its model, and what the model remembers.
type judged struct {
	limit Limit
	model model
	past  []taken
}

// drawPool is a pool of one to three limits of any kind, each on a unit of its own or on requests.
func drawPool(t *rapid.T) (*pool, []*judged) {
	all := laws()
	names := slices.Sorted(maps.Keys(all))
	var limits []Limit
	var judges []*judged
	for i := range rapid.IntRange(1, 3).Draw(t, "limits") {
		c := all[rapid.SampledFrom(names).Draw(t, "law")]
		if rapid.Bool().Draw(t, "of a unit") {
			c.Limit = c.Of(fmt.Sprint("unit ", i))
		}
		limits = append(limits, c.Limit)
		judges = append(judges, &judged{limit: c.Limit, model: c.model})
	}
	return newPool(limits, nil, dawn), judges
}

// drawCost is one to three of some units, and none of others.
func drawCost(t *rapid.T) budget.Cost {
	cost := budget.Cost{}
	for _, unit := range []string{budget.Requests, "unit 0", "unit 1", "unit 2"} {
		if n := rapid.IntRange(-1, 3).Draw(t, unit); n >= 0 {
			cost[unit] = float64(n)
		}
	}
	return cost
}

func TestAPoolAdmitsWhatAllModelsAdmit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, judges := drawPool(t)
		now := dawn
		for range rapid.IntRange(1, 40).Draw(t, "calls") {
			now = now.Add(pauses.Draw(t, "pause"))
			cost := drawCost(t)
			p.advance(now)
			want := true
			for _, j := range judges {
				n := int64(amount(cost, j.limit.unitOf()))
				want = want && (n == 0 || j.model(j.past, now, n))
			}
			if got := p.obstacle(now, cost) == nil; got != want {
				t.Fatalf("%v at %v: pool says %v, models %v", cost, now.Sub(dawn), got, want)
			}
			if !want {
				continue
			}
			p.take(now, cost, &stay{end: now.Add(staying)})
			for _, j := range judges {
				if n := int64(amount(cost, j.limit.unitOf())); n > 0 {
					j.past = append(j.past, taken{now, n})
				}
			}
		}
	})
}

// TestWaitingForAPoolIsEnough waits as long as the obstacle says, and meets no other.
func TestWaitingForAPoolIsEnough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, _ := drawPool(t)
		now := dawn
		for range rapid.IntRange(1, 40).Draw(t, "calls") {
			now = now.Add(pauses.Draw(t, "pause"))
			cost := drawCost(t)
			p.advance(now)
			if o := p.obstacle(now, cost); o != nil {
				if !o.known {
					continue
				}
				now = now.Add(o.wait)
				if again := p.obstacle(now, cost); again != nil {
					t.Fatalf("after %v another %v, for %s", o.wait, again.wait, again.unitOf())
				}
			}
			p.take(now, cost, &stay{end: now.Add(staying)})
		}
	})
}

// TestRefusalsThatCountAreInTheBookOfTheModel holds for all laws that only add up.
func TestRefusalsThatCountAreInTheBookOfTheModel(t *testing.T) {
	for _, name := range []string{"fixed window", "with a phase", "opened window", "sliding log", "sliding counter", "quantised"} {
		c := laws()[name]
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				p := newPool([]Limit{c.CountingRefusals()}, nil, dawn)
				now := dawn
				var past []taken
				for range rapid.IntRange(1, 60).Draw(t, "calls") {
					now = now.Add(pauses.Draw(t, "pause"))
					n := rapid.Int64Range(1, 3).Draw(t, "n")
					cost := budget.Cost{budget.Requests: float64(n)}
					p.advance(now)
					got := p.obstacle(now, cost) == nil
					if want := c.model(past, now, n); got != want {
						t.Fatalf("%d units at %v: pool says %v, model %v; history %v", n, now.Sub(dawn), got, want, past)
					}
					if got {
						p.take(now, cost, &stay{end: now})
					} else {
						p.refuse(now, cost)
					}
					past = append(past, taken{now, n})
				}
			})
		})
	}
}

// TestAForeignerIsOneMoreCaller compares a pool with a foreigner to one in which we make his calls.
func TestAForeignerIsOneMoreCaller(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gap := time.Duration(rapid.IntRange(50, 2500).Draw(t, "gap")) * time.Millisecond
		l := laws()[rapid.SampledFrom(slices.Sorted(maps.Keys(laws()))).Draw(t, "law")].Limit
		c := &config{foreign: &Foreign{Gap: Constant(gap), Cost: budget.Cost{budget.Requests: 2}}}
		with := newPool([]Limit{l}, c.newForeigner(place{}), dawn)
		without := newPool([]Limit{l}, nil, dawn)
		now, next := dawn, dawn.Add(gap)
		his := 0
		for range rapid.IntRange(1, 40).Draw(t, "calls") {
			with.advance(now)
			without.advance(now)
			for ; !next.After(now); next = next.Add(gap) {
				if without.obstacle(next, c.foreign.Cost) == nil {
					without.take(next, c.foreign.Cost, &stay{end: next})
					his++
				}
			}
			a, b := with.obstacle(now, nil) == nil, without.obstacle(now, nil) == nil
			if a != b || with.foreign.admitted != his {
				t.Fatalf("at %v: %v and %v, of the foreigner %d and %d", now.Sub(dawn), a, b, with.foreign.admitted, his)
			}
			if a {
				with.take(now, nil, &stay{end: now.Add(staying)})
				without.take(now, nil, &stay{end: now.Add(staying)})
			}
			now = now.Add(pauses.Draw(t, "pause"))
		}
	})
}
