package redisbudget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

// silent is an account that says nothing to Redis, at a moment that does not pass: what it wants to say can be looked at.
func silent(t *testing.T, policies ...budget.Policy) *account {
	t.Helper()
	store, err := New(unconnected(t))
	require.NoError(t, err)
	store.now = func() time.Time { return midnight }
	a := join(t, store, "silent", policies...).account.(*account)
	a.busy = true
	return a
}

// A process that was too late for slots gives them back, and asks for others at once: nobody else knows that there are some before the next
// window.
func TestSlotsThatWereMissedAreAskedForAnew(t *testing.T) {
	a := silent(t, budget.PerSecond(10))
	for range 3 {
		a.pool.add(slot{due: millis(-20), until: millis(-1), left: []float64{1}})
	}
	a.pool.add(slot{due: millis(900), until: millis(910), left: []float64{1}})
	a.tryAt, a.view.scarce = millis(750), true
	two := budget.Cost{budget.Requests: 2}
	at, ever := a.Ready(midnight, nil, two)
	assert.True(t, ever)
	assert.Equal(t, millis(900), at)
	assert.Equal(t, 2, a.slots, "no more than can use them")
	q, ok := a.next(midnight)
	require.True(t, ok)
	assert.Equal(t, 2, q.slots)
	assert.Equal(t, []float64{3}, q.back)
	a.flying = false
	a.Ready(midnight, nil, two)
	assert.Equal(t, 1, a.slots, "what is left of them")
}

// A bucket hands out slots in one flow, in which others follow at once.
func TestSlotsOfABucketThatWereMissedAreJustGivenBack(t *testing.T) {
	a := silent(t, budget.PerSecond(10).WithBurst(5))
	a.pool.add(slot{due: millis(-200), until: millis(-1), left: []float64{1}}, slot{due: millis(900), until: millis(910), left: []float64{1}})
	a.view.scarce = true
	a.Ready(midnight, nil, budget.Cost{budget.Requests: 1})
	assert.Zero(t, a.slots)
	assert.Equal(t, []float64{1}, a.back)
}

// Slots are asked for so far ahead that those of this window can still be had when some come back.
func TestSlotsOfTheNextWindowAreNotAskedForTooSoon(t *testing.T) {
	for want, p := range map[time.Duration]budget.Policy{
		30 * time.Second:       budget.PerSecond(10).WithBurst(5),
		15 * time.Second:       budget.PerMinute(10),
		250 * time.Millisecond: budget.PerSecond(10).Using(budget.FixedWindow),
	} {
		assert.Equal(t, want, silent(t, p).horizon(), p)
	}
	assert.Equal(t, 30*time.Second, silent(t, budget.PerDay(10), budget.PerSecond(10).Using(budget.LeakyBucket)).horizon())
	a := silent(t, budget.PerSecond(10))
	a.receive(&ask{}, &reply{wait: 300 * time.Millisecond}, midnight)
	assert.Equal(t, millis(300), a.waitFor)
	assert.Equal(t, millis(62).Add(500*time.Microsecond), a.tryAt, "and again soon enough")
}

// Slots of a state that is gone are void: the new state knows nothing of them.
func TestSlotsOfAStateThatIsGoneAreDropped(t *testing.T) {
	a := silent(t, budget.PerSecond(10))
	lose := func(how func()) {
		a.view.epoch, a.poked = "old", false
		a.pool.slots = []slot{{due: millis(900), until: millis(910), left: []float64{1}}}
		a.back = []float64{-2}
		how()
		assert.Empty(t, a.pool.slots)
		assert.Equal(t, []float64{-2}, a.back, "what is owed is owed")
	}
	lose(func() { a.overhear(midnight, 0, 0, "new") })
	assert.True(t, a.poked, "and the new state is asked")
	lose(func() { a.learn(&ask{}, &reply{epoch: "new", seen: []sight{{most: 10}}}, midnight, 0) })
	a.pool.slots = []slot{{due: millis(900), until: millis(910), left: []float64{1}}}
	a.overhear(midnight, 0, 0, "new")
	assert.NotEmpty(t, a.pool.slots, "those of this one are not")
}
