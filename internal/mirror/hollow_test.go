package mirror

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-18ca0a92/throttle/headers"
)

// nothingLeft says of every call that nothing is left, whatever is.
func nothingLeft(f form) form {
	return edited(f, func(q *headers.Quota) { q.Remaining.Value = 0 })
}

// A server that says of every call that nothing is left, and goes on admitting them, is soon not believed any more, and is used whole without a refusal.
func TestWhoAdmitsHasSomethingLeft(t *testing.T) {
	up, j := forms["up"], uniform(10*time.Millisecond)
	for _, workers := range []int{1, 16, 256} {
		name := func(s string) string { return fmt.Sprintf("%s, W=%d", s, workers) }
		late := want{ratio: 1.02, late: 2 * minute} // it takes two resets that bring nothing
		judge(t, name("window"), job(offStep/10, workers, j, nothingLeft(up), fixed(quota/10, minute)), late)
		judge(t, name("log"), job(offStep/10, workers, j, nothingLeft(up), sliding(quota/10, minute)), late)
		judge(t, name("bucket"), job(offStep, workers, j, nothingLeft(up), tokens(10, 60)), want{ratio: 1.03})
		judge(t, name("bucket, exact resets"), job(offStep, workers, j, nothingLeft(millis), tokens(10, 60)), want{ratio: 1.03})
	}
}

// emptied is a window of ten a minute that says a second time, after its first reset, that nothing is left.
func emptied(t *testing.T) *talk {
	k := newTalk(t, 10)
	k.call(0, 0, 30*s)
	k.call(31*s, 0, minute)
	return k
}

func TestNothingLeftIsBelievedTwice(t *testing.T) {
	k := emptied(t)
	assert.Less(t, k.m.available(32*s), 1.)
	k.call(92*s, 0, minute)
	assert.Equal(t, 9., k.m.available(93*s), "two resets should have brought something, and one call was made since the newest")
}

// Calls that a server admits before its reset say nothing of what that brings, nor does a refusal.
func TestOnlyAResetThatBringsNothingSpeaksAgainstTheNumber(t *testing.T) {
	k := emptied(t)
	k.call(60*s, 0, 31*s)
	k.send(92 * s)
	k.refuse(92*s, 92*s+100*ms, 0, minute)
	assert.Less(t, k.m.available(93*s), 1.)
}

// A number that was not zero once is one, also after it was not believed.
func TestANumberThatMovesIsBelieved(t *testing.T) {
	k := emptied(t)
	k.call(92*s, 0, minute)
	k.call(93*s, 3, minute)
	k.call(94*s, 2, 59*s)
	assert.Equal(t, 2., k.m.available(95*s))
}
