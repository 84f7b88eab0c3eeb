package mirror

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRoundedNumbersAreNoticed(t *testing.T) {
	tests := map[string]struct {
		left  []float64
		limit float64
		cost  float64
		want  float64
	}{
		"hundreds":                     {[]float64{600, 500, 600, 500, 400}, 600, 1, 100},
		"thousands, dear calls":        {[]float64{79000, 78000, 76000, 75000}, 80000, 1234, 1000},
		"every number":                 {[]float64{599, 598, 597, 596}, 600, 1, 0},
		"few numbers yet":              {[]float64{600, 500, 400}, 600, 1, 0},
		"the same number all the time": {[]float64{400, 400, 400, 400, 400}, 600, 1, 0},
		"costs of a hundred":           {[]float64{600, 500, 400, 300, 200}, 600, 100, 0},
		"fractions":                    {[]float64{99.5, 99, 98.5, 98}, 100, 0.5, 0},
		"a limit that is no multiple":  {[]float64{600, 500, 400, 300}, 601, 1, 0},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			var g grid
			for _, left := range c.left {
				g.hear(left, c.limit, c.cost)
			}
			assert.Equal(t, c.want, g.width())
		})
	}
}

// When the rounding is noticed, what was concluded from the numbers before is dropped.
func TestNoticedRoundingStartsAnew(t *testing.T) {
	k := newTalk(t, 600)
	var now moment
	for _, left := range []float64{600, 500, 400, 300} {
		k.call(now, left, 60*s)
		now += 200 * ms
	}
	assert.False(t, k.m.others.present(now), "though the numbers fell by a hundred a call")
	assert.Equal(t, 100.0, k.m.grid.width())
	k.call(now, 300, 59*s)
	assert.LessOrEqual(t, k.m.free(1), 300.0)
}
