package mirror

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// aDay is a log of a minute that is taken for one of a day, because one answer said so.
func aDay(t *testing.T) *talk {
	k := aLog(t)
	k.m.length.value = 24 * time.Hour
	return k
}

// One wrong reset does not stop everybody for a day, while all the others say a minute.
func TestNothingIsWaitedForLongAfterTheServerPromisedIt(t *testing.T) {
	k := aDay(t)
	at, lone := k.at(2*s, 1, 1)
	assert.Equal(t, s+overdue*59100*ms+k.grain, at, "the newest answer came after a second, and said 59.1 s")
	assert.True(t, lone)
	at, _ = k.at(2*s, 2, 2)
	assert.Greater(t, at, time.Hour, "one unit is promised, and no more")
}

func TestAPromiseIsOnlyForWhatIsOurs(t *testing.T) {
	k := aDay(t)
	k.m.SetCap(5)
	at, _ := k.at(2*s, 1, 1)
	assert.Greater(t, at, time.Hour, "the other half is left to others")

	k = aDay(t)
	k.m.others.seen, k.m.others.told = s, s
	at, _ = k.at(2*s, 1, 1)
	assert.Greater(t, at, time.Hour, "others may be faster")
}

// While an answer is on its way it will tell more than the one before.
func TestAPromiseWaitsForTheAnswerUnderWay(t *testing.T) {
	k := aDay(t)
	k.m.word.left = 1
	k.m.word.by = 2 * s
	k.send(2 * s)
	at, _ := k.at(2500*ms, 1, 1)
	assert.Equal(t, 2600*ms, at, "a latency from now")
}
