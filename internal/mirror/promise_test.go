package mirror

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// between is the answer to a call that left and came back between two moments.
func between(sent, received time.Duration, refused bool) *reading {
	return &reading{sent: sent, received: received, refused: refused}
}

func TestPromisesAreKeptAfterARefusal(t *testing.T) {
	var p promise
	p.hear(promised(s, 10*s, s)) // something comes back between 9.9 and 11 s
	assert.False(t, p.binds(), "not every reset means that nothing comes back before")
	p.test(between(2*s, 3*s, true))
	assert.True(t, p.binds())
	for range strictFirst {
		assert.True(t, p.binds())
		p.test(between(10*s, 10500*ms, false)) // within what is promised: good luck, perhaps
	}
	assert.False(t, p.binds())
	p.test(between(2*s, 3*s, true))
	assert.Equal(t, 2*strictFirst, p.strict, "twice as many the next time")
}

func TestAdmissionBeforeAPromiseBreaksIt(t *testing.T) {
	var p promise
	p.hear(promised(s, 10*s, s))
	p.test(between(2*s, 3*s, true))
	p.test(between(4*s, 5*s, false))
	assert.False(t, p.binds(), "it means something else, a full bucket or the end of a window")
}

func TestPromiseThatHasPassedProvesNothing(t *testing.T) {
	var p promise
	p.hear(promised(s, 10*s, s))
	p.test(between(10*s, 12*s, true))
	assert.False(t, p.binds())
	p.test(between(2*s, 3*s, true))
	p.hear(&reading{})
	assert.False(t, p.binds(), "and there is none without a reset")
}

// In a bucket whose resets bind, one call goes first when the reset comes; the others follow its answer.
func TestBoundBucketIsCrossedByOne(t *testing.T) {
	k := newTalk(t, 100)
	k.m.law, k.m.limit, k.m.known = bucketLaw, 100, true
	k.m.contact.answers = acquainted
	k.m.bucket = bucket{rate: 10, supply: 5, high: 5, at: s, promise: promise{known: true, from: 9 * s, to: 10 * s, strict: 1}}
	at, lone := k.at(2*s, 6, 16)
	assert.Equal(t, 10*s+k.net.Guard, at)
	assert.True(t, lone)
	at, lone = k.at(2*s, 5, 16)
	assert.Equal(t, 2*s, at, "what an answer has shown may go")
	assert.False(t, lone)
}
