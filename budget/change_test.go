package budget_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed-18ca0a92/throttle/budget"
)

func mustChange(t tester, b budget.Budget, now time.Time, p budget.Policy) budget.Budget {
	t.Helper()
	changed, err := budget.Change(b, now, p)
	require.NoError(t, err)
	return changed
}

func TestChangeToTheSameIsNoChange(t *testing.T) {
	forEveryLaw(t, func(t *testing.T, a budget.Algorithm) {
		p := budget.PerMinute(10).Using(a)
		b := mustNew(t, p)
		assert.Same(t, b, mustChange(t, b, midnight, p))
		assert.Same(t, b, mustChange(t, b, midnight, p.Of(budget.Requests)))
		assert.NotSame(t, b, mustChange(t, b, midnight, budget.PerMinute(11).Using(a)))
	})
}

func TestChangeToNonsenseIsRefused(t *testing.T) {
	forEveryLaw(t, func(t *testing.T, a budget.Algorithm) {
		b := mustNew(t, budget.PerMinute(10).Using(a))
		changed, err := budget.Change(b, midnight, budget.PerMinute(0))
		assert.ErrorContains(t, err, "Limit is 0")
		assert.Nil(t, changed)
	})
}

// Whatever the two laws: what has just been spent is spent under the new one, and the old budget is left as it was.
func TestChangeCarriesOverWhatIsSpent(t *testing.T) {
	forEveryLaw(t, func(t *testing.T, from budget.Algorithm) {
		for _, to := range algorithms {
			t.Run(to.String(), func(t *testing.T) {
				b := mustNew(t, budget.PerMinute(10).Using(from))
				b.Take(after(30), 6)
				before := b.State(after(30))
				changed := mustChange(t, b, after(30), budget.PerMinute(100).Using(to))
				assert.Equal(t, before, b.State(after(30)))
				s := changed.State(after(30))
				assert.Equal(t, 6.0, s.Used)
				if to != budget.LeakyBucket {
					assert.Equal(t, 94.0, s.Available)
				}

				lowered := mustChange(t, changed, after(30), budget.PerMinute(5).Using(from))
				s = lowered.State(after(30))
				assert.Equal(t, 6.0, s.Used, "one more than the new limit")
				assert.Zero(t, s.Available)
				d, _ := lowered.Wait(after(30), 1)
				assert.Greater(t, d, time.Duration(0))
			})
		}
	})
}

// Another limit, and back: within one law nothing is lost, not even when there is debt.
func TestChangeAndBackIsWhereItWas(t *testing.T) {
	forEveryLaw(t, func(t *testing.T, a budget.Algorithm) {
		rapid.Check(t, func(t *rapid.T) {
			p := smallPolicy(a).Draw(t, "policy")
			b := mustNew(t, p)
			now := history(t, p, b)
			other := p
			other.Limit *= 10
			back := mustChange(t, mustChange(t, b, now, other), now, p)
			require.InDelta(t, b.State(now).Used, back.State(now).Used, 1e-6)
			require.InDelta(t, b.State(now).Available, back.State(now).Available, 1e-6)
		})
	})
}

// A log remembers each call, so a raised limit changes nothing about when the old ones leave it.
func TestChangeOfALogKeepsItsTimes(t *testing.T) {
	b := mustNew(t, budget.PerMinute(4))
	for i := range 4 {
		b.Take(after(float64(10*i)), 1)
	}
	b = mustChange(t, b, after(35), budget.PerMinute(6))
	assert.Equal(t, []float64{35, 35, 60, 70, 80}, seconds(greedy(t, b, after(35), 1, 5)))
}

// A fixed window that gets another length counts what it knows within the new one.
func TestChangeOfAWindowCountsWhatLiesInTheNewOne(t *testing.T) {
	b := mustNew(t, budget.PerMinute(10).Using(budget.FixedWindow))
	b.Take(after(50), 7)
	b.Take(after(70), 2)
	hour := mustChange(t, b, after(80), budget.PerHour(20).Using(budget.FixedWindow))
	assert.Equal(t, 9.0, hour.State(after(80)).Used)
	half := mustChange(t, b, after(80), budget.Policy{Limit: 5, Window: 30 * time.Second, Algorithm: budget.FixedWindow})
	assert.Equal(t, 2.0, half.State(after(80)).Used)
	strict := mustChange(t, b, after(80), budget.PerMinute(10))
	assert.Equal(t, 9.0, strict.State(after(80)).Used, "the edge no longer helps")
	later := mustChange(t, b, after(200), budget.PerMinute(10))
	assert.Zero(t, later.State(after(200)).Used)
}

// A bucket that replaces a log is as empty as if it had been there all the time.
func TestChangeReplaysALogIntoABucket(t *testing.T) {
	b := mustNew(t, budget.PerMinute(60))
	for i := range 50 {
		b.Take(after(float64(i)), 1)
	}
	bucket := mustChange(t, b, after(50), budget.PerMinute(60).WithBurst(5))
	assert.Equal(t, 5.0, bucket.State(after(50)).Available, "one per second is what it refills")
	fast := mustChange(t, b, after(50), budget.PerMinute(30).WithBurst(5))
	assert.InDelta(t, -20, 5-fast.State(after(50)).Used, 1e-6, "and half of that what it could not")
}

// foreign is a Budget of somebody else.
type foreign struct {
	budget.Budget
	given float64
}

func (f *foreign) State(time.Time) budget.State                  { return budget.State{Used: 3} }
func (f *foreign) Give(_ time.Time, n float64)                   { f.given += n }
func (f *foreign) Take(time.Time, float64)                       {}
func (f *foreign) Wait(time.Time, float64) (time.Duration, bool) { return 0, true }

func TestBudgetsOfOthersAreGoodEnough(t *testing.T) {
	other := &foreign{}
	b := mustChange(t, other, midnight, budget.PerMinute(10))
	assert.Equal(t, 7.0, b.State(midnight).Available)
	budget.GiveBack(other, midnight, midnight, 2)
	budget.GiveBack(other, midnight, midnight, -5)
	assert.Equal(t, -3.0, other.given)
}

// A negative amount given back is debt as of now, also when the call itself is long past.
func TestGiveBackOfLessThanNothingIsDebtNow(t *testing.T) {
	forEveryLaw(t, func(t *testing.T, a budget.Algorithm) {
		b := mustNew(t, budget.PerMinute(10).Using(a))
		b.Take(after(0), 1)
		budget.GiveBack(b, after(0), after(600), -4)
		assert.Equal(t, 4.0, b.State(after(600)).Used)
	})
}
