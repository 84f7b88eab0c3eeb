package mirror

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-18ca0a92/throttle/headers"
)

// known is a mirror that has heard ten calls of a window of the given limit that ends at edge; the next call may leave at free.
func known(t *testing.T, limit float64, edge time.Duration) (k *talk, free time.Duration) {
	k = newTalk(t, limit)
	return k, k.calls(10, 0, limit, edge)
}

func TestWindowIsUsedToTheLastUnit(t *testing.T) {
	k, now := known(t, 100, 30*s)
	for range 90 {
		at, lone := k.at(now, 1, 1)
		assert.LessOrEqual(t, at, now)
		assert.False(t, lone)
		k.send(now)
	}
	at, lone := k.at(now, 1, 1)
	assert.InDelta(t, 30*s, at, float64(s), "then the edge")
	assert.GreaterOrEqual(t, at, 30*s)
	assert.True(t, lone, "which nobody has crossed yet")
}

// An edge that gave everything back once is crossed by all at once, as soon as it comes.
func TestProvenWindowOpensForAll(t *testing.T) {
	k, now := known(t, 100, 30*s)
	k.sendMany(90, now)
	at, _ := k.at(now, 1, 1)
	for i := range 90 { // all used up
		k.answer(now+time.Duration(i)*ms, now+100*ms+time.Duration(i)*ms, 89-float64(i), 29*s)
	}
	k.call(at, 99, 60*s)
	assert.Equal(t, windowLaw, k.m.law)
	k.calls(99, at+200*ms, 99, at+60*s)
	edge, lone := k.at(at+20*s, 1, 1)
	assert.InDelta(t, at+60*s, edge, float64(s))
	assert.False(t, lone)
	at, _ = k.at(edge, 1, 100)
	assert.LessOrEqual(t, at, edge)
	assert.Equal(t, 100.0, k.m.free(1))
	k.sendMany(100, edge)
	at, _ = k.at(edge+s, 1, 1)
	assert.Greater(t, at, edge+s, "and no more")
}

// What is in the air at the edge may have arrived on either side of it.
func TestCallsInTheAirAreChargedToBothWindows(t *testing.T) {
	k, _ := known(t, 100, 30*s)
	k.m.law = windowLaw
	edge, _, _ := k.m.edgeOf()
	k.sendMany(5, edge-50*ms)
	k.m.turn(edge)
	assert.Equal(t, 95.0, k.m.free(1))
	for i := range 5 { // they were counted before it
		k.learn(edge-50*ms+time.Duration(i)*ms, edge+50*ms, false, headers.Quota{})
	}
	k.call(edge+100*ms, 99, 60*s)
	assert.Equal(t, 99.0, k.m.free(1), "the first answer of the new window tells")
}

func TestWindowTakesTheLowerOfOwnCountAndTheServers(t *testing.T) {
	k, now := known(t, 100, 30*s)
	assert.Equal(t, 90.0, k.m.free(1))
	k.call(now, 50, 29*s)
	assert.Equal(t, 50.0, k.m.free(1), "somebody else drew")
	k.call(now+200*ms, 80, 29*s)
	assert.LessOrEqual(t, k.m.free(1), 50.0, "a window gives nothing back")
}

// A server that looks at its count only now and then repeats itself; one that did not count a call does too. Neither gives back.
func TestRepeatedNumbersAreNoRise(t *testing.T) {
	k, now := known(t, 100, 30*s)
	for range 20 {
		k.call(now, 90, 29*s)
		now += 200 * ms
	}
	assert.Equal(t, undecided, k.m.law)
	assert.Equal(t, 70.0, k.m.free(1), "the own count goes on")
	k.call(now, 69, 29*s)
	assert.Equal(t, undecided, k.m.law)
}

// An outage refuses, or fails without a word: what was not counted is still there, and nothing was given back.
func TestCallsThatWereNotCountedAreNoRise(t *testing.T) {
	k, now := known(t, 100, 30*s)
	for range 20 {
		k.send(now)
		k.learn(now, now+100*ms, false, headers.Quota{})
		now += 200 * ms
	}
	for left := 89.0; left > 80; left-- {
		k.call(now, left, 29*s)
		now += 200 * ms
	}
	assert.Equal(t, undecided, k.m.law)
}

func TestSupplyThatGrowsBeforeTheEdgeIsABucket(t *testing.T) {
	k, now := known(t, 100, 30*s)
	for i := range 20 {
		k.call(now, 90+float64(i%5), 29*s)
		now += 500 * ms
	}
	assert.Equal(t, bucketLaw, k.m.law)
}

func TestWindowWithoutRemainingIsCountedByUs(t *testing.T) {
	k := newTalk(t, 10)
	quota := func(reset time.Duration) headers.Quota {
		q := k.quota(0, reset)
		q.Remaining = headers.Maybe[float64]{}
		return q
	}
	k.send(0)
	k.learn(0, 100*ms, false, quota(60*s))
	assert.Equal(t, 9.0, k.m.free(1))
	k.send(200 * ms)
	k.learn(200*ms, 300*ms, true, quota(60*s))
	assert.LessOrEqual(t, k.m.free(1), 0.0, "a refusal says that nothing is left")
	at, _ := k.at(s, 1, 1)
	assert.Equal(t, 60100*ms, at)
}

// Used up, and never told until when: one call tries every second.
func TestQuotaWithoutResetIsProbed(t *testing.T) {
	k := newTalk(t, 1)
	q := k.quota(0, 0)
	q.Reset = headers.Maybe[time.Duration]{}
	k.send(0)
	k.learn(0, 100*ms, false, q)
	at, lone := k.at(200*ms, 1, 1)
	assert.Equal(t, 1100*ms, at)
	assert.True(t, lone)
	k.send(1100 * ms)
	at, lone = k.at(1100*ms, 1, 1)
	assert.Equal(t, 1200*ms, at, "when the answer is expected")
	assert.False(t, lone)
}

func TestChangedLimitStartsTheCountAnew(t *testing.T) {
	k, now := known(t, 100, 30*s)
	k.limit = 300
	k.call(now, 289, 29*s)
	assert.Equal(t, 289.0, k.m.free(1))
	k.limit = 50
	k.call(now+200*ms, 38, 29*s)
	assert.Equal(t, 38.0, k.m.free(1))
	assert.Equal(t, undecided, k.m.law)
}

// An answer from before the change may come after it.
func TestLimitIsTheOneOfTheCallThatLeftLast(t *testing.T) {
	k, now := known(t, 100, 30*s)
	k.send(now)
	k.send(now + 10*ms)
	k.limit = 300
	k.answer(now+10*ms, now+100*ms, 288, 29*s)
	k.limit = 100
	k.answer(now, now+200*ms, 89, 29*s)
	assert.Equal(t, 300.0, k.m.limit)
}
