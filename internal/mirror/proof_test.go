package mirror

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A hundred calls in the first second of a minute, and one right after the edge: what it leaves tells the law.
func TestFirstAnswerAfterTheEdgeTellsTheLaw(t *testing.T) {
	tests := map[string]struct {
		left    float64
		refused bool
		law     law
		proven  bool
	}{
		"all but itself: a window":                {99, false, windowLaw, false},
		"two strangers were quicker: a window":    {97, false, windowLaw, false},
		"what expired by then: a log":             {20, false, logLaw, true},
		"a refusal: nothing came back at all":     {0, true, bucketLaw, false},
		"neither: it refills":                     {60, false, bucketLaw, false},
		"used more than a log would hold: refill": {5, false, bucketLaw, false},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			k := newTalk(t, 100)
			for i := range 100 {
				k.call(time.Duration(i)*10*ms, 99-float64(i), 60*s)
			}
			k.m.law = undecided // the calls came too close for a hand-made bucket not to be suspected
			edge, lone := k.at(2*s, 1, 1)
			assert.True(t, lone)
			assert.Equal(t, 60100*ms, edge)
			// At 60.2 s a log has given back what was sent up to 0.2 s: 21 calls.
			k.send(60200 * ms)
			k.learn(60200*ms, 60300*ms, c.refused, k.quota(c.left, 60*s))
			assert.Equal(t, c.law, k.m.law)
			assert.Equal(t, c.proven, k.m.log.proven)
		})
	}
}

// While others draw, what is used says nothing of our own sends: only a window gives most of it back at once.
func TestLawOfASharedQuota(t *testing.T) {
	k, now := known(t, 100, 30*s)
	k.call(now, 20, 29*s)
	assert.True(t, k.m.others.present(now+100*ms))
	k.call(31*s, 65, 59*s)
	assert.Equal(t, windowLaw, k.m.law)

	k, now = known(t, 100, 30*s)
	k.call(now, 20, 29*s)
	k.call(31*s, 40, 59*s)
	assert.Equal(t, undecided, k.m.law)
}

// What comes and goes faster than answers travel can only be followed by what is left.
func TestShortLengthsAreFollowedAsBuckets(t *testing.T) {
	k := newTalk(t, 10)
	k.grain = 0
	k.call(0, 9, 150*ms)
	k.call(200*ms, 9, 150*ms)
	assert.Equal(t, bucketLaw, k.m.law)
}

func TestMuchInAShortTimeIsAWindow(t *testing.T) {
	k := newTalk(t, 10)
	k.m.length = length{value: 2 * s}
	k.m.window.used, k.m.window.seen = 10, s
	used := func(n float64) *reading { return &reading{received: 1200 * ms, limit: 10, left: 10 - n} }
	assert.True(t, k.m.leapt(used(2)), "eight within 200 ms, where a bucket gives back one")
	assert.False(t, k.m.leapt(used(9)))
}
