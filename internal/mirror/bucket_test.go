package mirror

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// aBucket is a mirror that knows a bucket of 100 that refills 10 a second: it was emptied in its first second, by exact resets.
func aBucket(t *testing.T) (k *talk, now time.Duration) {
	k = newTalk(t, 100)
	k.grain = 0
	for i := range 60 {
		missing := float64(i+1) - float64(i)/5 // a call every 20 ms, a fifth of a unit back
		k.call(time.Duration(i)*20*ms, 99-missing+1, time.Duration(missing*float64(100*ms)))
	}
	assert.Equal(t, bucketLaw, k.m.law)
	return k, 1300 * ms
}

func TestBucketIsRecognisedByItsResets(t *testing.T) {
	k, _ := aBucket(t)
	assert.InDelta(t, 10, k.m.bucket.rate, 0.5)
	window, ok := k.m.Window()
	assert.True(t, ok)
	assert.InDelta(t, 10*s, window, float64(s))
}

// Who waits for what is there goes at once; the next one when it has flowed in, and a guard later.
func TestBucketIsSpentAsItFills(t *testing.T) {
	k, now := aBucket(t)
	level := k.m.bucket.line(now) - k.m.sends.total
	at, lone := k.at(now, 1, level)
	assert.Equal(t, now, at)
	assert.False(t, lone)
	at, _ = k.at(now, level+5, level+5)
	assert.InDelta(t, now+5*s/10+k.net.Guard, at, float64(60*ms))
}

func TestFullBucketGainsNothing(t *testing.T) {
	k, now := aBucket(t)
	later := now + time.Hour
	k.send(later)
	assert.InDelta(t, 99, k.m.bucket.line(later)-k.m.sends.total, 0.01)
	at, _ := k.at(later, 100, 100)
	assert.Greater(t, at, later)
}

// Without resets that tell the rate, the rise of the supply does.
func TestRateFromTheRiseOfTheSupply(t *testing.T) {
	k := newTalk(t, 100)
	k.m.law, k.m.limit, k.m.known = bucketLaw, 100, true
	k.m.bucket.low, k.m.bucket.seen = 100, 100*ms
	k.call(10*s, 89, 0)
	assert.Zero(t, k.m.bucket.rate, "what is left may have been there")
	for i := range 10 {
		k.call(time.Duration(11+i)*s, 89+float64(i), s)
	}
	assert.InDelta(t, 9/20.1, k.m.bucket.rate, 0.01, "eleven calls and 98 left, nine more than the hundred of twenty seconds before")
}

// A refusal of a call that the line had room for halves the rate, and measures it anew.
func TestBrokenPromiseOfTheLineHalvesTheRate(t *testing.T) {
	k, _ := aBucket(t)
	k.m.filling = filling{refuted: true}
	rate := k.m.bucket.rate
	k.send(5 * s)
	k.answer(5*s, 5100*ms, 0, s)
	k.m.others = sharing{} // who may have been suspected
	k.send(6 * s)
	k.refuse(6*s, 6100*ms, 0, s)
	assert.InDelta(t, rate/2, k.m.bucket.rate, 0.01)
	k.send(6200 * ms)
	k.refuse(6200*ms, 6300*ms, 0, s)
	assert.InDelta(t, rate/2, k.m.bucket.rate, 0.01, "the line promised nothing by then")
}

// Without a rate, what the answers leave may go; then one call tries every second.
func TestBucketOfUnknownRate(t *testing.T) {
	k := newTalk(t, 100)
	k.m.law, k.m.limit, k.m.known = bucketLaw, 100, true
	k.m.contact.answers = acquainted
	k.m.bucket = bucket{supply: 3, high: 3, at: s}
	k.m.heard = s
	at, _ := k.at(2*s, 3, 20)
	assert.Equal(t, 2*s, at)
	at, lone := k.at(2*s, 4, 20)
	assert.Equal(t, 2*s, at)
	assert.True(t, lone)
	k.send(2 * s)
	at, lone = k.at(2*s, 4, 20)
	assert.Equal(t, 2100*ms, at, "when the answer is expected")
	assert.False(t, lone)
}

// A refund is believed when an answer confirms it, a debt at once.
func TestSettlingABucket(t *testing.T) {
	k, now := aBucket(t)
	level := k.m.bucket.line(now) - k.m.sends.total
	k.m.Settle(epoch.Add(now), 5)
	assert.InDelta(t, level, k.m.bucket.line(now)-k.m.sends.total, 1e-9)
	k.m.Settle(epoch.Add(now), -5)
	assert.InDelta(t, level-5, k.m.bucket.line(now)-k.m.sends.total, 1e-9)
}

func TestBucketOfAnotherLimit(t *testing.T) {
	k, now := aBucket(t)
	k.limit = 50
	k.call(now, 10, 4*s)
	assert.InDelta(t, 5, k.m.bucket.rate, 0.5, "a third less burst in the same time: a third less rate")
	assert.Equal(t, 10.0, k.m.bucket.supply-k.m.sends.total)
	k.limit = 200
	k.call(now+200*ms, 150, 10*s)
	assert.InDelta(t, 5, k.m.bucket.rate, 0.5, "what was a lower bound stays one")
	assert.Equal(t, 150.0, k.m.bucket.supply-k.m.sends.total)
}

// A cap is a bucket of our own: its burst, and its part of the refill.
func TestCapOnABucket(t *testing.T) {
	k, now := aBucket(t)
	k.m.SetCap(50)
	at, _ := k.at(now, 1, 1)
	assert.Greater(t, at, now, "sixty are spent already")
	k.m.bucket.allow.level = 20
	assert.Equal(t, now, k.m.allowed(now, 20))
	assert.InDelta(t, now+s, k.m.allowed(now, 25), float64(50*ms), "five more flow in within a second")
	k.send(now)
	assert.Equal(t, 19.0, k.m.bucket.allow.level)
	k.m.bucket.allow.flow(now+time.Hour, 0, 5, 50)
	assert.Equal(t, 50.0, k.m.bucket.allow.level)
}

func TestSecondsDoNotOverflow(t *testing.T) {
	assert.Equal(t, 1500*ms, seconds(1.5))
	assert.Greater(t, seconds(math.Inf(1)), 60*365*24*time.Hour)
	assert.Less(t, seconds(-1e30), -60*365*24*time.Hour)
}
