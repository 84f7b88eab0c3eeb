package mirror

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestLengthIsTheLongestResetPulledToARoundOne(t *testing.T) {
	tests := map[string]struct {
		resets []time.Duration
		grain  time.Duration
		late   time.Duration
		want   time.Duration
		sure   bool
	}{
		"a minute":                         {[]time.Duration{12 * s, 60 * s, 59 * s}, s, 0, time.Minute, true},
		"met a little late":                {[]time.Duration{59 * s}, s, 0, time.Minute, true},
		"met in the middle":                {[]time.Duration{42 * s}, s, 0, 42 * s, false},
		"not round":                        {[]time.Duration{61 * s}, s, 0, 61 * s, false},
		"an hour to the millisecond":       {[]time.Duration{time.Hour - 3*ms}, 0, 0, time.Hour, true},
		"a moment less a truncated Date":   {[]time.Duration{61 * s}, 2 * s, 0, time.Minute, true},
		"rounded down":                     {[]time.Duration{59 * s}, s, s, time.Minute, true},
		"rounded to the nearest":           {[]time.Duration{60 * s}, s, s, time.Minute, true},
		"two seconds, rounded down to one": {[]time.Duration{s}, s, s, 2 * s, true},
		"less than a second, rounded down": {[]time.Duration{0}, s, s, s, true},
		"first 40, then all":               {[]time.Duration{40 * s, time.Minute}, s, 0, time.Minute, true},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			var l length
			for _, reset := range c.resets {
				l.hear(&reading{timed: true, reset: reset, grain: c.grain}, c.late)
			}
			assert.Equal(t, c.want, l.value)
			assert.Equal(t, c.sure, l.sure())
		})
	}
}

func TestLengthThatIsToldIsNotMeasured(t *testing.T) {
	var l length
	l.hear(&reading{length: 10 * s, timed: true, reset: time.Minute, grain: s}, 0)
	l.hear(&reading{timed: true, reset: time.Hour, grain: s}, 0)
	assert.Equal(t, 10*s, l.value)
	assert.True(t, l.sure())
}
