package bank

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// overloadedServer turns away a part of the calls by chance, whatever they cost, until it has recovered.
type overloadedServer struct {
	stateless
	luck  *rand.Rand
	part  float64
	until time.Duration
	told  time.Duration
}

func (o *overloadedServer) admit(now time.Duration) (bool, time.Duration) {
	if now < o.until && o.luck.Float64() < o.part {
		return false, now + o.told
	}
	return true, 0
}

// overloaded is one that turns away a part of the calls for some time from the start on.
func overloaded(part float64, lasts, told time.Duration) func(*world) server {
	return func(w *world) server {
		return &overloadedServer{luck: w.setup, part: part, until: w.start + lasts, told: told}
	}
}

// No law explains what happens by chance. It must not be obeyed for long if it looks as if one did, while the server is in trouble and
// least of all when it has recovered.
func TestAServerThatTurnsAwayByChanceIsCalledOn(t *testing.T) {
	const trouble, lasts, full = 10 * time.Minute, 20 * time.Minute, 80
	for _, c := range []struct {
		part float64
		told time.Duration // the wait that it names, though it means nothing
		each float64       // calls let in, each minute of trouble, at least
	}{
		{0.3, 0, 5}, {0.5, 0, 1.5}, {2. / 3, 0, 0.3},
		{0.3, time.Millisecond, 90}, {0.5, time.Millisecond, 50}, {2. / 3, time.Millisecond, 20},
	} {
		t.Run(fmt.Sprintf("%.2f of all, told %v", c.part, c.told), func(t *testing.T) {
			t.Parallel()
			s := scenario{calls: endless, workers: 16, jitter: 10 * time.Millisecond, lasts: lasts, hints: c.told > 0,
				server: overloaded(c.part, trouble, c.told)}
			for seed := range uint64(5) {
				r := s.play(seed)
				each, back := float64(r.in(done, 0, trouble))/trouble.Minutes(), r.regained(full, trouble, lasts)
				t.Logf("let in %.1f each minute, %d refused, back after %v", each, r.refusals, back)
				assert.GreaterOrEqual(t, each, c.each, "seed %d", seed)
				assert.LessOrEqual(t, back, 6*time.Minute, "seed %d", seed)
			}
		})
	}
}
