package backoff_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-18ca0a92/throttle/backoff"
)

func TestValidateSaysWhatIsWrongAndWhatToDo(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy backoff.Policy
		want   string // empty: fine
	}{
		{"zero", backoff.Policy{}, ""},
		{"constant", backoff.Policy{Multiplier: 1}, ""},
		{"one nanosecond, doubled", backoff.Policy{Initial: 1, Max: time.Hour}, ""},
		{"longest", backoff.Policy{Max: 366 * 24 * time.Hour}, ""},
		{"negative Initial", backoff.Policy{Initial: -time.Second}, "negative time in Initial -1s"},
		{"negative Min", backoff.Policy{Min: -1}, "Min -1ns"},
		{"negative Max", backoff.Policy{Max: math.MinInt64}, "use positive ones"},
		{"endless Max", backoff.Policy{Max: math.MaxInt64}, "is above 8784h0m0s: lower it"},
		{"Initial above Max", backoff.Policy{Initial: 2 * time.Minute}, "Initial 2m0s is above Max 1m0s: raise Max or lower Initial"},
		{"Min above Initial", backoff.Policy{Min: time.Second}, "Min 1s is above Initial 500ms: raise Initial or lower Min"},
		{"shrinking", backoff.Policy{Multiplier: 0.5}, "Multiplier 0.5 does not let the interval grow: use 1 (constant) or more"},
		{"not a number", backoff.Policy{Multiplier: math.NaN()}, "Multiplier NaN"},
		{"infinite", backoff.Policy{Multiplier: math.Inf(1)}, "Multiplier +Inf"},
		{"hardly growing", backoff.Policy{Multiplier: 1.001}, "use 1 (constant) or at least 1.01"},
		{"rounds to itself", backoff.Policy{Initial: 1, Multiplier: 1.5}, "Initial 1ns times 1.5 rounds to itself"},
		{"unknown jitter", backoff.Policy{Jitter: 9}, "Jitter(9) is no kind of jitter: use Full, Equal or None"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.policy.Validate()
			if c.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func TestValidateReportsEverythingAtOnce(t *testing.T) {
	err := backoff.Policy{Min: -1, Multiplier: 0.5, Jitter: 9}.Validate()
	for _, part := range []string{"negative time", "Multiplier 0.5", "Jitter(9)"} {
		assert.ErrorContains(t, err, part)
	}
}

func TestValidateReportsAFaultOnce(t *testing.T) {
	assert.NotContains(t, backoff.Policy{Initial: -time.Second}.Validate().Error(), "\n")
}

func TestJitterHasANameForEveryKind(t *testing.T) {
	assert.Equal(t, "full", backoff.Full.String())
	assert.Equal(t, "equal", backoff.Equal.String())
	assert.Equal(t, "none", backoff.None.String())
	assert.Equal(t, "Jitter(7)", backoff.Jitter(7).String())
}
