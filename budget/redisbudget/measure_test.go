package redisbudget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-18ca0a92/throttle/budget"
)

// wants asks for many slots, of which each process may have a fair part.
func (l *law) wants(now time.Time, slots int, fair float64) *reply {
	l.t.Helper()
	one := []float64{1}
	return l.ask(now, &ask{slots: slots, need: one, more: one, fair: fair, horizon: time.Hour})
}

// Where one process wants much and the others little, it gets more than its part, in a few seconds: what is handed out ahead then lasts for
// about the time that all parts together would.
func TestWhoeverWantsMuchGetsWhatOthersLeave(t *testing.T) {
	l := newLaw(t, startRedis(t).client(), "skewed", budget.PerSecond(100).WithBurst(1))
	first := len(l.wants(midnight, 64, 8).slots)
	assert.Equal(t, 8, first, "a fair part at first")
	now, most, ahead := midnight, 0, time.Duration(0)
	for range 20 {
		now = now.Add(ahead * 9 / 10)
		r := l.wants(now, 64, 8)
		most, ahead = max(most, len(r.slots)), r.slots[len(r.slots)-1].from
		now = now.Add(10 * time.Millisecond)
	}
	assert.Greater(t, most, 50)
	assert.LessOrEqual(t, ahead, 800*time.Millisecond)
}

// Where all want much, each gets its part, even after one had more.
func TestWhereAllWantMuchAllGetTheSame(t *testing.T) {
	l := newLaw(t, startRedis(t).client(), "even", budget.PerSecond(100).WithBurst(1))
	now := midnight
	for range 20 { // one alone
		l.wants(now, 64, 8)
		now = now.Add(600 * time.Millisecond)
	}
	var got [10]int
	for range 20 {
		for i := range got {
			got[i] += len(l.wants(now, 64, 8).slots)
			now = now.Add(80 * time.Millisecond)
		}
	}
	assert.LessOrEqual(t, got[0], 20*8+64-8, "who came first had too much once")
	for _, n := range got[1:] {
		assert.Equal(t, 20*8, n, "%v", got)
	}
}

// The time for which calls wait to ask together grows while much is handed out ahead, and is soon gone when nothing is.
func TestCallsWaitToAskTogetherWhileTheyHaveTo(t *testing.T) {
	l := newLaw(t, startRedis(t).client(), "linger", budget.PerSecond(100).WithBurst(1))
	now := midnight
	var r *reply
	for range 40 {
		r = l.wants(now, 8, 8)
		now = now.Add(50 * time.Millisecond)
	}
	assert.Equal(t, 800*time.Millisecond, r.linger, "and no longer than that")
	now = now.Add(r.slots[0].from + time.Second)
	for range 4 {
		r = l.wants(now, 1, 8)
		now = now.Add(400 * time.Millisecond)
	}
	assert.Less(t, r.linger, 50*time.Millisecond)
	assert.Zero(t, l.wants(now.Add(time.Minute), 1, 0).slots[0].from)
}
