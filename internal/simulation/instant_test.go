package simulation

import (
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/headers"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

// A server in the same process answers in no time, so that many moments are the same one.
func TestAnswersThatTakeNoTime(t *testing.T) {
	const units, windows = 20, 16
	for name, d := range map[string]headers.Dialect{"anthropic": headers.Anthropic, "x-ratelimit": headers.XRateLimit, "openai": headers.OpenAI, "epoch": headers.XRateLimitEpoch} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := throttletest.NewUpstream(throttletest.WithLimits(throttletest.FixedWindow(units, time.Minute)), throttletest.WithDialect(d))
				tr, err := throttle.NewTransport(up)
				require.NoError(t, err)
				defer tr.Close()
				start := time.Now()
				var wg sync.WaitGroup
				for range units * windows {
					wg.Go(func() {
						c := caller{client: &http.Client{Transport: tr}}
						assert.NoError(t, c.call(0).err)
					})
				}
				wg.Wait()
				assert.Zero(t, up.Stats().Refused)
				assert.LessOrEqual(t, time.Since(start), windows*time.Minute)
			})
		})
	}
}
