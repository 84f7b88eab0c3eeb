package mirror

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-18ca0a92/throttle/headers"
)

// aLog is a mirror that knows a log of 10 a minute, with ten calls in it from the first second.
func aLog(t *testing.T) *talk {
	k := newTalk(t, 10)
	for i := range 10 {
		k.call(time.Duration(i)*100*ms, 9-float64(i), 60*s-time.Duration(i)*100*ms)
	}
	k.m.law, k.m.log.proven = logLaw, true
	return k
}

// Never more than the limit in any length, plus the allowance for jitter.
func TestLogGivesBackWhatItTookOneLengthAgo(t *testing.T) {
	k := aLog(t)
	guard := k.m.log.guard
	assert.Equal(t, 80*ms, guard, "20 ms, and a thousandth of the minute")
	for i := range 10 {
		at, lone := k.at(2*s, 1, 1)
		assert.Equal(t, time.Minute+time.Duration(i)*100*ms+guard, at)
		assert.False(t, lone)
		k.send(at)
	}
	at, _ := k.at(62*s, 1, 1)
	assert.Equal(t, 2*time.Minute+2*guard, at)
}

func TestLogWaitsForAllThatADearCallTakes(t *testing.T) {
	k := aLog(t)
	at, _ := k.at(2*s, 3, 3)
	assert.Equal(t, time.Minute+200*ms+k.m.log.guard, at)
}

// A log that is not proven crosses alone what only it would admit; what the answers have shown to be there needs no proof.
func TestUnprovenLogCrossesAlone(t *testing.T) {
	k := aLog(t)
	k.m.log.proven = false
	at, lone := k.at(2*s, 1, 1)
	assert.Greater(t, at, time.Minute)
	assert.True(t, lone)
	k.m.window.supply += 5
	_, lone = k.at(2*s, 1, 1)
	assert.False(t, lone)
}

// A refusal of a call that the log had room for widens the guard; its echo does not.
func TestRefusalsWidenTheGuardOfALog(t *testing.T) {
	k := aLog(t)
	before := k.m.log.guard
	k.send(60100 * ms)
	k.send(60110 * ms)
	k.refuse(60100*ms, 60130*ms, 0, s)
	k.call(61*s, 4, s) // the guard is that of the answer before
	assert.Equal(t, before+10*ms, k.m.log.guard)
	k.refuse(60110*ms, 60140*ms, 0, s)
	assert.Equal(t, 10*ms, k.m.log.extra)
	for range 10 {
		k.m.log.warn(&reading{sent: k.m.log.warned + s, received: k.m.log.warned + s}, k.net, 0, 100)
	}
	assert.Equal(t, k.net.Latency, k.m.log.extra, "never beyond what a call takes")
}

// So many refusals at once show another law.
func TestManyRefusalsRefuteALog(t *testing.T) {
	var l slidingLog
	net := Network{Guard: 20 * ms, Latency: 100 * ms}
	assert.True(t, l.warn(&reading{sent: s, received: 2 * s}, net, 1, 100))
	assert.True(t, l.warn(&reading{sent: s, received: 2 * s}, net, 6, 100))
	assert.False(t, l.warn(&reading{sent: s, received: 2 * s}, net, 7, 100))
}

func TestLogThatIsContradicted(t *testing.T) {
	k := aLog(t)
	k.call(30*s, 5, 30*s)
	assert.Equal(t, bucketLaw, k.m.law, "half is back after half the time")

	k = aLog(t)
	k.send(60100 * ms)
	k.answer(60100*ms, 60200*ms, 9, 60*s)
	assert.Equal(t, windowLaw, k.m.law, "all is back, though most of it was sent less than a minute ago")
}

func TestGuardOfAShortLogIsAtMostHalfOfIt(t *testing.T) {
	k := newTalk(t, 10)
	k.m.length.value = 20 * ms
	assert.Equal(t, 10*ms, k.m.logGuard(k.net))
}

// Of a server that tells only how much it admits in which time, nothing else is to be had: our own count of that time is what counts.
func TestAPolicyAloneIsALog(t *testing.T) {
	k := newTalk(t, 10)
	policy := headers.Quota{Limit: headers.Some(10.0), Window: headers.Some(s)}
	for i := range moment(10) {
		k.send(i * ms)
	}
	for i := range moment(10) {
		k.learn(i*ms, 100*ms+i*ms, false, policy)
	}
	at, lone := k.at(200*ms, 1, 1)
	assert.Equal(t, s+k.m.log.guard, at)
	assert.False(t, lone)
}
