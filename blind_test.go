package throttle

import (
	"math/rand/v2"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// A call that takes a minute is let in long before it is answered. After a refusal the others follow one that goes alone soon, not when
// its answer is there.
func TestLongCallsAfterARefusalHoldUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(nil)
		s.latency = 20 * time.Millisecond
		s.reply = func(n int, _ *http.Request) reply {
			if n == 1 {
				return tooMany()
			}
			return reply{after: time.Minute}
		}
		c, _ := client(t, s)
		flood(t, c, 8, api)
		assert.Less(t, time.Since(s.start), 90*time.Second, "all within the time of one, and a little more")
	})
}

// A server that is overloaded turns calls away by chance, and says that they may come back at once. No law about hours explains that.
func TestAServerThatRefusesByChanceIsCalledOn(t *testing.T) {
	const calls = 300
	synctest.Test(t, func(t *testing.T) {
		s := newServer(nil)
		s.latency = 100 * time.Millisecond
		luck := rand.New(rand.NewPCG(1, 1))
		s.reply = func(int, *http.Request) reply {
			if luck.Float64() < 2./3 {
				return tooMany("Retry-After-Ms", "1")
			}
			return reply{}
		}
		c, _ := client(t, s, WithMaxAttempts(50))
		flood(t, c, calls, api)
		assert.Less(t, time.Since(s.start), 30*time.Minute, "ten calls a minute at least")
	})
}

// What was learned while half of all calls were refused is given up soon when the server has recovered.
func TestAServerThatHasRecoveredIsUsedAgain(t *testing.T) {
	const trouble = 5 * time.Minute
	synctest.Test(t, func(t *testing.T) {
		s := newServer(nil)
		s.latency = 100 * time.Millisecond
		luck := rand.New(rand.NewPCG(1, 1))
		s.reply = func(int, *http.Request) reply {
			if time.Since(s.start) < trouble && luck.Float64() < 0.5 {
				return tooMany()
			}
			return reply{}
		}
		c, _ := client(t, s, WithMaxAttempts(50))
		flood(t, c, 1000, api)
		assert.Less(t, time.Since(s.start), trouble+10*time.Minute)
	})
}
