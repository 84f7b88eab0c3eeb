package throttle

import (
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stepped is t as a clock reads it whose wall time was set by so many seconds, while its monotonic time went on: what no function of package time
// makes. It knows how a time.Time with a monotonic reading is laid out: 33 bits of wall seconds stand above 30 bits of nanoseconds.
func stepped(t time.Time, seconds int64) time.Time {
	wall := (*int64)(unsafe.Pointer(&t))
	*wall += seconds << 30
	return t
}

// Here the lane is asked each millisecond, since its timer would go by the clock of the machine; and outside of a bubble, whose clock has no
// monotonic reading.
func TestPAC07WallClockStepsChangeNothing(t *testing.T) {
	_, tr := client(t, newNoop(), WithPolicies(spaced(10)))
	l, err := tr.lane(background, "k", nil)
	require.NoError(t, err)
	l.mu.Lock()
	defer l.mu.Unlock()
	var at []time.Duration
	start := time.Now()
	for past := time.Duration(0); past < 30*time.Second; past += time.Millisecond {
		now := start.Add(past)
		if past/(2*time.Second)%2 == 1 { // 11 s on, and 2 s later back again
			now = stepped(now, 11)
			require.Equal(t, past, now.Sub(start))
			require.Equal(t, start.Add(past+11*time.Second).Round(0), now.Round(0))
		}
		w := waiter{ticket: &ticket{cost: newCost(nil), class: l.order[0], mute: true}}
		if r := l.rule(&w, now); !r.at.After(now) && l.admit(&w, &r, now) {
			at = append(at, past)
		}
	}
	assert.InDelta(t, 300, len(at), 3)
	for i := 1; i < len(at); i++ {
		assert.GreaterOrEqual(t, at[i]-at[i-1], 90*time.Millisecond)
		assert.LessOrEqual(t, at[i]-at[i-1], 150*time.Millisecond)
	}
}
