package budget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// The wall clock cannot be set here, so what becomes of a window when it was is asked of next itself.
func TestTheNextWindowMayBeTheSameOneMoved(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		gap       time.Duration
		prev, cur float64
	}{
		"it follows":                      {time.Minute, 7, 0},
		"it follows, the clock set ahead": {49 * time.Second, 7, 0},
		"it comes later":                  {2 * time.Minute, 0, 0},
		"it comes ages later":             {1 << 62, 0, 0},
		"the clock was set back":          {11 * time.Second, 2, 7},
		"the clock was set back by more":  {-20 * time.Second, 2, 7},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFrame(time.Minute, time.Time{})
			f.start, f.prev = start, 2
			f.cur.add(7)
			f.next(start.Add(c.gap))
			assert.Equal(t, start.Add(c.gap), f.start)
			assert.Equal(t, c.prev, f.prev)
			assert.Equal(t, c.cur, f.cur.value())
		})
	}
}

// Windows begin by the wall clock and are measured by the monotonic one.
func TestTheBeginningKeepsTheMonotonicReading(t *testing.T) {
	f := newFrame(time.Minute, time.Time{})
	now := time.Now()
	begin := f.begin(now)
	assert.Zero(t, begin.Unix()%60)
	assert.Zero(t, begin.Nanosecond())
	assert.Contains(t, begin.String(), "m=", "a monotonic reading")
	assert.True(t, !begin.After(now) && now.Sub(begin) < time.Minute)
}
