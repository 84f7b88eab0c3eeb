package throttletest

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAClientThatWaitsAsToldIsAdmitted does 40 calls with one worker, which is refused at most once for each.
func TestAClientThatWaitsAsToldIsAdmitted(t *testing.T) {
	for name, c := range laws() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := NewUpstream(WithLimits(c.Limit), WithHint(HintMillis, Up))
				begun := time.Now()
				for range 40 {
					refused := obey(t, u)
					require.LessOrEqual(t, refused, 1)
				}
				took := time.Since(begun)
				least, ok := u.Bound(Job{Calls: 40, Workers: 1, Start: begun})
				assert.True(t, ok)
				assert.GreaterOrEqual(t, took, least)
				assert.LessOrEqual(t, took, least+40*time.Millisecond, "a hint is rounded up to the millisecond")
				assert.Equal(t, 40, u.Stats().Admitted)
			})
		})
	}
}

// obey repeats a call until it is admitted, and counts its refusals.
func obey(t *testing.T, u *Upstream) (refused int) {
	for {
		resp, _ := post(t, u, chatURL, "{}")
		if resp.StatusCode == 200 {
			return refused
		}
		ms, err := strconv.Atoi(resp.Header.Get("Retry-After-Ms"))
		require.NoError(t, err)
		time.Sleep(time.Duration(ms) * time.Millisecond)
		refused++
	}
}
