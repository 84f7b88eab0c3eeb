package mirror

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
)

func TestCallDearerThanTheQuotaCanNeverLeave(t *testing.T) {
	k, now := known(t, 100, 30*s)
	_, _, ever := k.m.At(epoch.Add(now), 100, 100, k.net)
	assert.True(t, ever)
	_, _, ever = k.m.At(epoch.Add(now), 101, 101, k.net)
	assert.False(t, ever)
	k.m.SetCap(50)
	_, _, ever = k.m.At(epoch.Add(now), 51, 51, k.net)
	assert.False(t, ever)
	k.m.SetCap(200)
	_, _, ever = k.m.At(epoch.Add(now), 100, 100, k.net)
	assert.True(t, ever, "a cap above the limit bounds nothing")
}

func TestCapLeavesTheRestOfAWindow(t *testing.T) {
	k, now := known(t, 100, 30*s)
	k.m.SetCap(60)
	assert.Equal(t, 50.0, k.m.free(1))
	k.sendMany(50, now)
	at, _ := k.at(now+s, 1, 1)
	assert.Greater(t, at, 29*s)
	k.m.SetCap(0)
	at, _ = k.at(now+s, 1, 1)
	assert.LessOrEqual(t, at, now+s)
}

func TestSettlingAWindow(t *testing.T) {
	k, now := known(t, 100, 30*s)
	k.m.Settle(epoch.Add(now), 3)
	assert.Equal(t, 93.0, k.m.free(1), "what was not used is there again")
	k.m.Settle(epoch.Add(now), -5)
	assert.Equal(t, 88.0, k.m.free(1), "what was used beyond is not")
	assert.Zero(t, k.m.flying())
}

// A call whose end nobody tells counts as ended after a while.
func TestForgottenCallDoesNotFlyForEver(t *testing.T) {
	k, now := known(t, 100, time.Hour)
	k.send(now)
	k.call(now+s, 88, time.Hour)
	assert.Equal(t, 1.0, k.m.flying())
	k.call(now+2*patienceLeast, 87, time.Hour)
	assert.Zero(t, k.m.flying())
}

func TestAnswersThatTellNothing(t *testing.T) {
	k := newTalk(t, 0)
	k.send(0)
	k.learn(0, 100*ms, false, headers.Quota{})
	_, lone := k.at(200*ms, 1, 1)
	assert.True(t, lone, "it is still first contact")

	zeros := headers.Quota{Limit: headers.Some(0.0), Remaining: headers.Some(0.0), Reset: headers.Some(time.Duration(0))}
	k.send(200 * ms)
	k.learn(200*ms, 300*ms, false, zeros)
	assert.False(t, k.m.known, "a success with no limit, nothing left and no wait comes from a server that does not count")
	k.send(400 * ms)
	k.learn(400*ms, 500*ms, true, zeros)
	assert.True(t, k.m.known, "a refusal is another matter")
}

func TestQuotaThatIsNoLongerTold(t *testing.T) {
	k, now := known(t, 1000, time.Hour)
	for range silence - 1 {
		k.send(now)
		k.learn(now, now, false, headers.Quota{})
	}
	assert.False(t, k.m.Stale())
	k.send(now)
	k.learn(now, now, false, headers.Quota{})
	assert.True(t, k.m.Stale())
	k.call(now, 500, time.Hour)
	assert.False(t, k.m.Stale())
}

func TestRefusalThatRemainingExplains(t *testing.T) {
	k, now := known(t, 100, 30*s)
	k.send(now)
	k.refuse(now, now+100*ms, 0, 29*s)
	assert.True(t, k.m.Explains(epoch.Add(now+100*ms), 1))
	k.send(now + 200*ms)
	k.refuse(now+200*ms, now+300*ms, 50, 29*s)
	assert.False(t, k.m.Explains(epoch.Add(now+300*ms), 1), "fifty were left: it was refused for another reason")
	k.call(now+400*ms, 49, 29*s)
	assert.False(t, k.m.Explains(epoch.Add(now+500*ms), 1))
}

func TestWindowIsNotProvenByItsResets(t *testing.T) {
	k, _ := known(t, 100, 30*s)
	window, ok := k.m.Window()
	assert.True(t, ok)
	assert.Equal(t, 30*s, window)
	assert.False(t, k.m.Proven())
	q := k.quota(80, 29*s)
	q.Window = headers.Some(time.Minute)
	k.send(s)
	k.learn(s, 1100*ms, false, q)
	window, _ = k.m.Window()
	assert.Equal(t, time.Minute, window)
	assert.True(t, k.m.Proven())
}

func TestStateOfAMirrorThatHasHeardNothing(t *testing.T) {
	assert.Equal(t, budget.State{}, New(epoch).State(epoch))
	_, ok := New(epoch).Window()
	assert.False(t, ok)
}

func TestStateOfEachLaw(t *testing.T) {
	k, now := known(t, 100, 30*s)
	got := k.m.State(epoch.Add(now))
	assert.Equal(t, 100.0, got.Limit)
	assert.Equal(t, []float64{10, 90}, []float64{got.Used, got.Available})
	assert.WithinDuration(t, epoch.Add(30*s), got.Next, s)

	k = aLog(t)
	got = k.m.State(epoch.Add(30 * s))
	assert.Equal(t, budget.State{Limit: 10, Window: time.Minute, Used: 10, Next: epoch.Add(time.Minute)}, got)
	got = k.m.State(epoch.Add(60450 * ms))
	assert.Equal(t, []float64{5, 5}, []float64{got.Used, got.Available})
	assert.Equal(t, epoch.Add(60500*ms), got.Next)

	k, now = aBucket(t)
	got = k.m.State(epoch.Add(now + time.Hour))
	assert.Equal(t, []float64{0, 100}, []float64{got.Used, got.Available})
	assert.Zero(t, got.Next)
	got = k.m.State(epoch.Add(now))
	assert.InDelta(t, 100, got.Used+got.Available, 1e-9)
	assert.WithinDuration(t, epoch.Add(now+100*ms), got.Next, 10*ms)
}

// A clock that steps back neither grants nor forgets anything.
func TestClockThatStepsBack(t *testing.T) {
	k, now := known(t, 100, 30*s)
	k.send(now)
	k.send(now - s)
	assert.Equal(t, 88.0, k.m.free(1))
	k.answer(now-s, now-900*ms, 88, 30*s)
	assert.LessOrEqual(t, k.m.free(1), 89.0)
}

// A call whose cost changes before it is sent, or that is never sent, leaves nothing under way and nothing spent.
func TestAmendingLeavesNothingUnderWay(t *testing.T) {
	m := New(epoch)
	m.Spend(epoch, 40)
	m.Amend(epoch, 30)
	assert.InDelta(t, 10, m.flying(), 1e-9)
	m.Amend(epoch, 10)
	assert.Zero(t, m.flying())
	assert.Zero(t, m.sends.total)
}

// Of a quota whose edge nobody has crossed yet, nothing is used any more once its reset has passed.
func TestStateAfterTheFirstReset(t *testing.T) {
	k := newTalk(t, 100)
	end := k.calls(20, 0, 100, 10*s)
	assert.InDelta(t, 20, k.m.State(epoch.Add(end)).Used, 1)
	after := k.m.State(epoch.Add(time.Minute))
	assert.Zero(t, after.Used)
	assert.Equal(t, 100.0, after.Available)
	k.send(time.Minute)
	assert.InDelta(t, 1, k.m.State(epoch.Add(time.Minute+s)).Used, 1)
}
