package bank

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A wait that is told in whole seconds holds two edges of a window of one, and contradicts neither.
func TestAWholeSecondFitsAWindowOfOne(t *testing.T) {
	const trip = 20 * time.Millisecond
	for at := 10 * time.Second; at < 11*time.Second; at += 10 * time.Millisecond {
		w := newClockWindow(time.Second, 0)
		w.heed(&evidence{at: at, guard: 5 * time.Millisecond}, told(1, at, at+trip, time.Second))
		assert.False(t, w.denied, "%v", at)
	}
	w := newClockWindow(time.Second, 0)
	w.heed(&evidence{at: 10 * time.Second, guard: 5 * time.Millisecond}, told(1, 10*time.Second, 10*time.Second+trip, 5*time.Second))
	assert.True(t, w.denied, "no window of a second is closed for five")
}
