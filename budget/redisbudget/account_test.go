package redisbudget

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-18ca0a92/throttle/budget"
)

func TestSeveralProcessesShareOneBucket(t *testing.T) {
	s := startRedis(t)
	p := budget.PerSecond(50).WithBurst(10)
	ctx := within(t, 2*time.Second)
	var wg sync.WaitGroup
	counts := make([]int, 4)
	for i := range counts {
		c := join(t, s.store(), "host", p)
		wg.Go(func() { counts[i] = c.drain(ctx) })
	}
	wg.Wait()
	t.Log(counts)
	sum := 0
	for _, n := range counts {
		sum += n
	}
	assert.LessOrEqual(t, sum, 10+100+1)
	assert.GreaterOrEqual(t, sum, 95)
}
