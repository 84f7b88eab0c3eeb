package redisbudget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

// lease asks for several slots of one unit of each policy.
func (l *law) lease(now time.Time, slots int, life time.Duration) *reply {
	l.t.Helper()
	one := make([]float64, len(l.policies))
	for i := range one {
		one[i] = 1
	}
	return l.ask(now, &ask{slots: slots, slotLife: life, need: one, more: one, horizon: time.Hour})
}

// from is when the slots of an answer begin, in milliseconds.
func from(r *reply) (ms []float64) {
	for _, s := range r.slots {
		ms = append(ms, float64(s.from.Microseconds())/1e3)
	}
	return ms
}

func millis(n int64) time.Time { return midnight.Add(time.Duration(n) * time.Millisecond) }

func TestALeaseIsSlotsAtTheRate(t *testing.T) {
	client := startRedis(t).client()
	for _, test := range []struct {
		policy        budget.Policy
		first, second []float64 // two leases of four slots, asked for at the same moment
	}{
		{budget.PerSecond(10).WithBurst(2), []float64{0, 0, 100, 200}, []float64{300, 400, 500, 600}},
		{budget.PerSecond(10).Using(budget.LeakyBucket), []float64{0, 100, 200, 300}, []float64{400, 500, 600, 700}},
		{budget.PerSecond(3).Using(budget.FixedWindow), []float64{0, 0, 0, 1000}, []float64{1000, 1000, 2000, 2000}},
		{budget.PerSecond(3), []float64{0, 0, 0, 1000}, []float64{1000, 1000, 2000, 2000}},
		{budget.PerSecond(4).Using(budget.SlidingCounter), []float64{0, 0, 0, 0}, []float64{1250, 1500, 1750, 2000}},
	} {
		l := newLaw(t, client, test.policy.String(), test.policy)
		assert.Equal(t, test.first, from(l.lease(midnight, 4, 0)), test.policy)
		assert.InDeltaSlice(t, test.second, from(l.lease(midnight, 4, 0)), 0.01, test.policy)
	}
}

// A slot that may be used late counts as used late: a strict server never sees more than the limit, whenever in its life a slot is used.
func TestSlotsThatAreUsedLateExceedNothing(t *testing.T) {
	client := startRedis(t).client()
	const life = 50 * time.Millisecond
	l := newLaw(t, client, "log", budget.PerSecond(3))
	assert.Equal(t, []float64{0, 0, 0, 1050, 1050, 1050, 2100}, from(l.lease(midnight, 7, life)))
	l = newLaw(t, client, "bucket", budget.PerSecond(10).WithBurst(2))
	assert.Equal(t, []float64{0, 50, 150, 250}, from(l.lease(midnight, 4, life)), "the second waits, and no later one does")
	l = newLaw(t, client, "leaky", budget.PerSecond(10).Using(budget.LeakyBucket))
	assert.Equal(t, []float64{0, 100, 200}, from(l.lease(midnight, 3, life)), "a bucket without a burst keeps its rate")
	l = newLaw(t, client, "window", budget.PerSecond(3).Using(budget.FixedWindow))
	r := l.lease(millis(980), 4, life)
	assert.Equal(t, []float64{0, 0, 0, 20}, from(r))
	assert.Less(t, r.slots[0].until, 20*time.Millisecond, "a slot ends with its window")
}

// A slot that is used at its very end arrives a little later still: it counts from then on, and the next one comes a window after that. What a
// window of the clock grants is used so early that it arrives in it.
func TestCallsThatTakeLongToArriveExceedNothing(t *testing.T) {
	client := startRedis(t).client()
	const life, way = 50 * time.Millisecond, 8 * time.Millisecond
	lease := func(name string, now time.Time, slots int, p budget.Policy) *reply {
		l := newLaw(t, client, name, p)
		l.fields = func(q *ask) { q.guard = way }
		return l.lease(now, slots, life)
	}
	r := lease("log", midnight, 7, budget.PerSecond(3))
	assert.Equal(t, []float64{0, 0, 0, 1058, 1058, 1058, 2116}, from(r))
	assert.Equal(t, life, r.slots[0].until, "it must be used before that")
	r = lease("bucket", midnight, 4, budget.PerSecond(10).WithBurst(2))
	assert.Equal(t, []float64{0, 50, 150, 250}, from(r), "a bucket has its burst for that")
	for _, a := range []budget.Algorithm{budget.FixedWindow, budget.SlidingCounter} {
		r = lease(a.String(), millis(980), 1, budget.PerSecond(3).Using(a))
		assert.Equal(t, []float64{0}, from(r), a)
		assert.InDelta(t, 12, float64(r.slots[0].until.Microseconds())/1e3, 0.01, a)
		r = lease(a.String()+" too late", millis(995), 1, budget.PerSecond(3).Using(a))
		assert.Equal(t, []float64{5}, from(r), a)
	}
	l := newLaw(t, client, "capped", budget.PerSecond(3))
	l.fields = func(q *ask) { q.guard = time.Minute }
	assert.Equal(t, []float64{0, 0, 0, 1060}, from(l.lease(midnight, 4, life)), "no more than a hundredth of a window is given away")
}

func TestAllUnitsAreTakenOrNone(t *testing.T) {
	l := newLaw(t, startRedis(t).client(), "two", budget.PerSecond(10).WithBurst(10), budget.PerSecond(1000).Of(budget.Tokens).WithBurst(1000))
	assert.Zero(t, l.take(midnight, 1, 900))
	assert.Equal(t, 400*time.Millisecond, l.take(midnight, 1, 500))
	r := l.ask(midnight, &ask{slots: 1, need: []float64{1, 1001}, horizon: time.Hour})
	assert.Negative(t, r.wait, "more than there can ever be")
	assert.Empty(t, r.slots)
	assert.InDelta(t, 5, r.seen[0].used, 1e-6, "nothing was taken for it; what is taken for later keeps the time before from counting")
	assert.InDelta(t, 1400, r.seen[1].used, 1e-6)
}

func TestBeyondTheHorizonNothingIsReserved(t *testing.T) {
	l := newLaw(t, startRedis(t).client(), "slow", budget.PerMinute(1).WithBurst(1))
	l.take(midnight, 1)
	for range 3 {
		r := l.ask(midnight, &ask{slots: 3, need: []float64{1}, more: []float64{1}, horizon: 30 * time.Second})
		assert.Empty(t, r.slots)
		assert.Equal(t, time.Minute, r.wait)
	}
	r := l.ask(millis(40_000), &ask{slots: 3, need: []float64{1}, more: []float64{1}, horizon: 30 * time.Second})
	assert.Equal(t, []float64{20_000}, from(r), "and only what lies within")
}

func TestUnusedSlotsAreGivenBack(t *testing.T) {
	client := startRedis(t).client()
	for _, p := range []budget.Policy{budget.PerSecond(10).WithBurst(10), budget.PerMinute(10), budget.PerMinute(10).Using(budget.FixedWindow), budget.PerMinute(10).Using(budget.SlidingCounter)} {
		l := newLaw(t, client, p.String(), p)
		l.lease(midnight, 10, 0)
		r := l.ask(midnight, &ask{back: []float64{4}})
		assert.InDelta(t, 6, r.seen[0].used, 1e-9, p)
		l.epoch = "another"
		r = l.ask(midnight, &ask{back: []float64{4}})
		assert.InDelta(t, 6, r.seen[0].used, 1e-9, "%v: slots of a state that is gone are not of this one", p)
	}
}

// Of what lapsed at the same time no more comes back than the server's bucket holds beside what slots may be late by.
func TestWhatLapsedTogetherRunsOver(t *testing.T) {
	l := newLaw(t, startRedis(t).client(), "over", budget.PerSecond(100).WithBurst(20))
	used := func(q *ask) float64 { return l.ask(millis(400), q).seen[0].used }
	comesBack := func(n float64, age time.Duration) float64 {
		return used(&ask{}) - used(&ask{back: []float64{n}, age: age, slotLife: lateness})
	}
	one := []float64{1}
	l.ask(midnight, &ask{slots: 64, slotLife: lateness, need: one, more: one, horizon: time.Hour})
	assert.InDelta(t, 10.5, comesBack(15, 300*time.Millisecond), 1e-3, "beside the slack")
	assert.InDelta(t, 0, comesBack(15, 200*time.Millisecond), 1e-3, "once")
	assert.InDelta(t, 0, comesBack(5, -10*time.Millisecond), 1e-3, "and if it lies ahead of what others have, it will")
	assert.InDelta(t, 15, comesBack(15, -50*time.Millisecond), 1e-3, "what is last comes back in full")
}

// What was not used before the bucket ran full is gone: the server's bucket ran over too.
func TestSlotsFromBeforeTheBucketWasFullAreGone(t *testing.T) {
	client := startRedis(t).client()
	l := newLaw(t, client, "bucket", budget.PerSecond(10).WithBurst(10))
	l.lease(midnight, 5, 0)
	l.lease(millis(5000), 5, 0)
	r := l.ask(millis(5000), &ask{back: []float64{3}, age: 5 * time.Second})
	assert.InDelta(t, 5, r.seen[0].used, 1e-9)
	r = l.ask(millis(5000), &ask{back: []float64{3}, age: 0})
	assert.InDelta(t, 2, r.seen[0].used, 1e-9)
	l = newLaw(t, client, "leaky", budget.PerSecond(10).Using(budget.LeakyBucket))
	l.lease(midnight, 3, 0)
	r = l.ask(midnight, &ask{back: []float64{1}, age: -100 * time.Millisecond})
	assert.InDelta(t, 3, r.seen[0].used, 1e-9, "not the last one: somebody may follow")
	r = l.ask(midnight, &ask{back: []float64{1}, age: -200 * time.Millisecond})
	assert.InDelta(t, 2, r.seen[0].used, 1e-9)
}

// A state that is lost before its time begins empty, and not with a second burst.
func TestALostStateBeginsEmpty(t *testing.T) {
	client := startRedis(t).client()
	for _, test := range []struct {
		policy budget.Policy
		memory float64
		want   []float64
	}{
		{budget.PerSecond(10).WithBurst(5), 0, []float64{100, 200, 300, 400}},
		{budget.PerSecond(10).Using(budget.LeakyBucket), 0, []float64{100, 200, 300, 400}},
		{budget.PerSecond(4), 0, []float64{250, 500, 750, 1000}},
		{budget.PerSecond(4).Using(budget.FixedWindow), 2, []float64{0, 0, 1000, 1000}},
	} {
		l := newLaw(t, client, "lost "+test.policy.String(), test.policy)
		l.opened = true
		one := []float64{1}
		r := l.ask(midnight, &ask{slots: 4, need: one, more: one, horizon: time.Hour, remembers: true, epoch: "gone", memory: []float64{test.memory}})
		assert.InDeltaSlice(t, test.want, from(r), 0.01, test.policy)
	}
}

// A server whose clock is put back, or another one that takes over with a clock that is behind, goes on where the first was: nobody waits until
// it is as late again, and nothing is granted twice.
func TestAServersClockThatIsPutBack(t *testing.T) {
	client := startRedis(t).client()
	one := []float64{1}
	for _, p := range []budget.Policy{budget.PerSecond(10).WithBurst(5), budget.PerSecond(10), budget.PerSecond(10).Using(budget.LeakyBucket)} {
		l := newLaw(t, client, "back "+p.String(), p)
		steady := newLaw(t, client, "steady "+p.String(), p)
		q := func() *ask { return &ask{slots: 8, need: one, more: one, fair: 8, horizon: 30 * time.Second} }
		for _, ms := range []int64{0, 1000} {
			assert.Equal(t, l.ask(millis(ms), q()).slots, steady.ask(millis(ms), q()).slots)
		}
		l.ask(millis(-3_600_000), &ask{hold: time.Second})
		steady.ask(millis(1000), &ask{hold: time.Second})
		for _, ms := range []int64{1500, 2500} {
			back, want := l.ask(millis(ms-3_601_000), q()), steady.ask(millis(ms), q())
			assert.Equal(t, want, &reply{epoch: want.epoch, declared: back.declared, server: back.server, live: back.live, ttl: back.ttl, hold: back.hold,
				changed: back.changed, quiet: back.quiet, linger: back.linger, wait: back.wait, slots: back.slots, seen: back.seen}, p)
		}
	}
	l := newLaw(t, client, "windows", budget.PerSecond(3).Using(budget.FixedWindow))
	l.lease(millis(1900), 1, 0)
	l.lease(millis(0), 1, 0)
	assert.Equal(t, []float64{0, 0, 0, 900}, from(l.lease(millis(1100), 4, 0)), "windows begin where the clock says")
}

// A log that is lost is what those who come back remember of it: the first one what all took, and each what it took itself meanwhile.
func TestALostLogIsRememberedAsItWas(t *testing.T) {
	client := startRedis(t).client()
	p := budget.Policy{Limit: 20, Window: 3 * time.Second}
	l := newLaw(t, client, "trail", p)
	l.lease(midnight, 12, 0)
	a := silent(t, p)
	a.view.update(l.ask(midnight, &ask{}), midnight, 0)
	a.view.live = 2
	a.mu.Lock()
	a.fail(millis(500), errLate, new(breaker))
	a.takeAlone(millis(1000), []float64{1})
	a.takeAlone(millis(1010), []float64{1})
	a.takeAlone(millis(2000), []float64{1})
	a.mu.Unlock()
	q := a.compose(millis(2500))
	require.NoError(t, client.FlushAll(t.Context()).Err())
	one := []float64{1}
	l.ask(millis(2500), &ask{remembers: true, trail: q.trail})
	l.epoch = "old"
	r := l.ask(millis(2500), &ask{slots: 17, need: one, more: one, horizon: time.Hour, remembers: true, own: q.own})
	want := []float64{0, 0}
	for range 12 {
		want = append(want, 500)
	}
	assert.InDeltaSlice(t, append(want, 1510, 1510, 1510), from(r), 0.01)
}

// When all were away, no slot lies before the last of them can be back; when one was, the others go on.
func TestThoseWhoWereAwayComeBackTogether(t *testing.T) {
	l := newLaw(t, startRedis(t).client(), "quiet", budget.PerSecond(10).WithBurst(5))
	one := []float64{1}
	l.lease(midnight, 1, 0)
	back := ask{slots: 1, need: one, more: one, horizon: time.Hour, away: time.Second, quiet: time.Second}
	alone := back
	r := l.ask(millis(100), &alone)
	assert.Zero(t, r.quiet)
	all := back
	r = l.ask(millis(2000), &all)
	assert.Equal(t, time.Second, r.quiet)
	assert.Equal(t, []float64{1100}, from(r))
	next := back
	r = l.ask(millis(2100), &next)
	assert.Equal(t, 900*time.Millisecond, r.quiet, "the second does not prolong it")
	assert.Equal(t, []float64{1100}, from(r))
}

// Asks that lay in a server that stood still tell nothing of who is there: whoever comes back still waits for the others.
func TestAnAskThatRunsLateIsNobodyWhoIsThere(t *testing.T) {
	l := newLaw(t, startRedis(t).client(), "still", budget.PerSecond(10))
	l.lease(midnight, 1, 0)
	l.ask(millis(3000), &ask{slots: 1, need: []float64{1}, horizon: time.Hour, expires: millis(100)})
	r := l.ask(millis(3010), &ask{away: 2 * time.Second, quiet: time.Second})
	assert.Equal(t, time.Second, r.quiet)
}

func TestAnAskThatRunsLateTakesNothing(t *testing.T) {
	l := newLaw(t, startRedis(t).client(), "late", budget.PerSecond(10))
	r := l.ask(midnight, &ask{slots: 1, need: []float64{1}, horizon: time.Hour, expires: millis(-1)})
	assert.Empty(t, r.slots)
	assert.Zero(t, r.seen[0].used)
	r = l.ask(midnight, &ask{slots: 1, need: []float64{1}, horizon: time.Hour, expires: millis(1)})
	assert.Len(t, r.slots, 1)
}

func TestAHoldIsOnlyExtendedAndEndsEmpty(t *testing.T) {
	l := newLaw(t, startRedis(t).client(), "hold", budget.PerSecond(10).WithBurst(5))
	assert.Equal(t, 10*time.Second, l.ask(midnight, &ask{hold: 10 * time.Second}).hold)
	assert.Equal(t, 10*time.Second, l.ask(midnight, &ask{hold: 2 * time.Second}).hold)
	assert.Equal(t, []float64{10_100, 10_200}, from(l.lease(midnight, 2, 0)), "paced, not a burst")
	assert.Equal(t, 3*time.Second, l.ask(millis(7000), &ask{}).hold)
	assert.Zero(t, l.ask(millis(10_001), &ask{}).hold)
}

func TestProcessesAreCountedWhileTheyLive(t *testing.T) {
	client := startRedis(t).client()
	l := newLaw(t, client, "live", budget.PerSecond(10))
	at := func(ms int64, process string, life time.Duration) int {
		l.fields = func(q *ask) { q.process, q.life = process, life }
		return l.ask(millis(ms), &ask{}).live
	}
	assert.Equal(t, 1, at(0, "a", time.Minute))
	assert.Equal(t, 2, at(1000, "b", time.Minute))
	assert.Equal(t, 1, at(2000, "b", -time.Minute), "b leaves")
	assert.Equal(t, 2, at(59_000, "c", time.Minute))
	assert.Equal(t, 1, at(61_000, "c", time.Minute), "a is dead")
}

// A bucket that takes longer to fill than Redis counts has a state that lives for a century.
func TestAStateLivesForACenturyAtTheMost(t *testing.T) {
	l := newLaw(t, startRedis(t).client(), "slow", budget.PerDay(1e-3).WithBurst(1e15))
	assert.Equal(t, 100*366*24*time.Hour, l.lease(midnight, 1, 0).ttl)
}

// A log stays small: beyond 512 entries they are merged, and leave late by 1/256 of the window at the most.
func TestALogStaysSmall(t *testing.T) {
	client := startRedis(t).client()
	l := newLaw(t, client, "large", budget.PerMinute(100_000))
	now := midnight
	for range 40 {
		for range 25 {
			now = now.Add(time.Millisecond)
			r := l.lease(now, 1, 0)
			require.Zero(t, r.slots[0].from)
		}
		l.ask(now, &ask{back: []float64{-99}})
	}
	size := client.HStrLen(t.Context(), l.names.state, "log1").Val()
	assert.Less(t, size, int64(40*(512+1)))
	assert.InDelta(t, 1000+40*99, l.ask(now, &ask{}).seen[0].used, 1e-6)
	assert.Zero(t, l.ask(now.Add(time.Minute+time.Minute/250), &ask{}).seen[0].used)
}
