package redisbudget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-18ca0a92/throttle/budget"
)

func TestPoliciesAreDescribedWhole(t *testing.T) {
	p := []budget.Policy{
		budget.PerSecond(5).WithBurst(2.5).Resolve(),
		budget.Policy{Unit: "odd unit;", Limit: 1e6, Window: time.Minute, Algorithm: budget.FixedWindow, Anchor: midnight.Add(1500 * time.Millisecond)}.Resolve(),
	}
	assert.Equal(t, "token-bucket requests 5 1000000 2.5 0;fixed-window odd+unit%3B 1000000 60000000 0 1500000;", describe(p))
	assert.Empty(t, describe(nil))
	assert.Equal(t, p[0].String()+", "+`1000000 "odd unit;"/minute fixed-window anchor 1970-01-01T00:00:01.5Z`, readable(describe(p)), "and as people write them")
	for _, other := range []string{"", "theirs", "token-bucket requests 5 x 2.5 0;", "odd requests 5 1000000 2.5 0;", "token-bucket %zz 5 1000000 2.5 0;"} {
		assert.Equal(t, other, readable(other))
	}
}
