package mirror

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Told in whole seconds, a bucket that is full again within one looks like a window of a second. It is used whole all the same, and a true window is not
// taken for a bucket.
func TestABucketThatFillsWithinASecondIsNoWindow(t *testing.T) {
	for _, b := range []struct{ rate, burst, ratio float64 }{{50, 10, 1.25}, {20, 20, 1.02}, {10, 5, 1.05}, {5, 5, 1.02}} {
		for _, workers := range []int{16, 256} {
			s := job(int(60*b.rate), workers, uniform(10*time.Millisecond), forms["up"], tokens(b.rate, b.burst))
			judge(t, fmt.Sprintf("%v/s, burst %v, W=%d", b.rate, b.burst, workers), s, want{ratio: b.ratio})
		}
	}
}

// aSecond is a window of ten a second, proven after its first edge, at a second and a half; its answers leave what is told.
func aSecond(t *testing.T) *talk {
	k := newTalk(t, 10)
	k.calls(10, 0, 10, s)
	k.call(1500*ms, 9, s)
	k.m.law = windowLaw
	return k
}

func TestTheLastUnitOfABriefWindowLeavesInItsMiddle(t *testing.T) {
	k := aSecond(t)
	from := k.m.window.previous
	k.calls(8, 1600*ms, 9, from+s)
	at, _ := k.at(from+300*ms, 1, 5)
	assert.Equal(t, from+500*ms, at)
	k.call(at, 0, s)
	assert.Zero(t, k.m.whenLast(1), "nothing had come back, so there is nothing more to ask")
}

// One opening too early may be an edge that was believed too late.
func TestTwoEarlyOpeningsInARowMakeABucket(t *testing.T) {
	k := aSecond(t)
	opens := func(after time.Duration) bool { return k.m.tooBrief(&reading{received: k.m.window.previous + after}) }
	assert.False(t, opens(500*ms))
	assert.False(t, opens(900*ms))
	assert.False(t, opens(500*ms))
	assert.True(t, opens(500*ms))
	k.m.length.told = true
	assert.False(t, opens(500*ms), "the server has said how long it is")
}
