package throttletest

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestDistributionsHaveTheirMeanAndRange(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		Dist
		low, mean, p99, tolerance time.Duration
	}{
		"zero":        {Dist{}, 0, 0, 0, 0},
		"constant":    {Constant(s), s, s, s, 0},
		"uniform":     {Uniform(s, 3*s), s, 2 * s, 2980 * time.Millisecond, 20 * time.Millisecond},
		"exponential": {Exponential(s), 0, s, 4605 * time.Millisecond, 200 * time.Millisecond},
		"log-normal":  {LogNormal(s, 0.5), 0, s, 2824 * time.Millisecond, 100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			r := luck(1, name, 0)
			var all []time.Duration
			var sum time.Duration
			for range 20_000 {
				d := c.draw(r)
				sum += d
				all = append(all, d)
			}
			slices.Sort(all)
			assert.Equal(t, c.mean, c.Mean())
			assert.InDelta(t, c.mean, sum/20_000, float64(c.tolerance))
			assert.InDelta(t, c.p99, all[19_800], float64(c.tolerance))
			assert.GreaterOrEqual(t, all[0], c.low)
			assert.NoError(t, c.check(name))
		})
	}
}

func TestOutputTokensStayWithinWhatTheCallAllows(t *testing.T) {
	u := NewUpstream(WithOutputTokens(300, 1))
	var sum float64
	for range 5000 {
		k, err := u.open(request(`{"max_tokens":4096}`))
		assert.NoError(t, err)
		assert.LessOrEqual(t, k.output, 4096.0)
		assert.GreaterOrEqual(t, k.output, 1.0)
		sum += k.output
	}
	assert.InDelta(t, 300, sum/5000, 20)
}
