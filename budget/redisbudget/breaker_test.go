package redisbudget

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
)

func TestABreakerLetsOneProbeThroughAtATime(t *testing.T) {
	var b breaker
	assert.True(t, b.allows(midnight))
	assert.True(t, b.claim(midnight))
	assert.True(t, b.claim(midnight), "while all is well any number may ask")
	at := b.fail(midnight)
	assert.False(t, b.allows(midnight))
	assert.Equal(t, at, b.fail(millis(1)), "asks that were under way change nothing")
	assert.True(t, b.claim(at))
	assert.False(t, b.allows(at), "somebody probes")
	assert.False(t, b.claim(at))
	again := b.fail(at)
	assert.True(t, again.After(at))
	assert.True(t, b.allows(again))
	b.mend()
	assert.True(t, b.claim(midnight))
}

// The pauses double from 100 to 500 ms, each up to 30 % shorter by chance.
func TestProbesBecomeRarerButNotRare(t *testing.T) {
	var b breaker
	now := midnight
	for _, most := range []time.Duration{100, 200, 400, 500, 500, 500} {
		at := b.fail(now)
		assert.LessOrEqual(t, at.Sub(now), most*time.Millisecond)
		assert.GreaterOrEqual(t, at.Sub(now), most*700*time.Microsecond)
		assert.True(t, b.claim(at))
		now = at
	}
}

// The nodes of a cluster fail one by one, so the keys of one tell nothing of those of another.
func TestOnlyTheKeysOfOneServerGoTogether(t *testing.T) {
	one := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	many := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}})
	t.Cleanup(func() { _, _ = one.Close(), many.Close() })
	var c company
	c.serve(one)
	assert.True(t, c.together)
	c.serve(many)
	assert.False(t, c.together)
	a, b := &account{}, &account{}
	c.join(a)
	c.join(b)
	assert.Equal(t, []*account{b}, c.others(a))
	c.part(b)
	assert.Empty(t, c.others(a))
}
