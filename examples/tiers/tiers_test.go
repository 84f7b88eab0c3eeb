package main

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// It is run in virtual time, in which nothing refills between two calls.
func TestReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		require.NoError(t, run(&out, "", 100))
		assert.Equal(t, `customer  tier        model  sent  beyond the tier
ada       free        giant  -     not in the tier
ada       free        large  -     not in the tier
ada       free        small  3     97
bob       pro         giant  -     not in the tier
bob       pro         large  50    50
bob       pro         small  50    50
eve       enterprise  giant  100   0
eve       enterprise  large  100   0
eve       enterprise  small  100   0
`, out.String())
	})
}

func builtInPlan(t *testing.T) plan {
	t.Helper()
	p, err := load("")
	require.NoError(t, err)
	return p
}

// Ten a minute after the first three, and no more than two hundred in a day.
func TestFreeTierThroughADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := newClient(builtInPlan(t), upstream{})
		require.NoError(t, err)
		count := func() int {
			sent, _, err := callMany(c, "ada", "small", 20)
			require.NoError(t, err)
			return sent
		}
		assert.Equal(t, 3, count())
		time.Sleep(6 * time.Second)
		assert.Equal(t, 1, count())
		total := 4
		for range 100 {
			time.Sleep(18 * time.Second)
			total += count()
		}
		assert.Equal(t, 200, total, "the day's are spent")
		time.Sleep(24 * time.Hour)
		assert.Equal(t, 3, count())
	})
}

func TestCustomersDoNotShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := builtInPlan(t)
		p.Customers["ann"] = "free"
		c, err := newClient(p, upstream{})
		require.NoError(t, err)
		for _, customer := range []string{"ada", "ann"} {
			sent, beyond, err := callMany(c, customer, "small", 5)
			require.NoError(t, err)
			assert.Equal(t, 3, sent)
			assert.Equal(t, 2, beyond)
		}
	})
}

func TestWhoMayNotCall(t *testing.T) {
	c, err := newClient(builtInPlan(t), upstream{})
	require.NoError(t, err)
	assert.ErrorIs(t, call(c, "mallory", "small"), errStranger)
	assert.ErrorIs(t, call(c, "bob", "giant"), errModel)
	assert.NoError(t, call(c, "bob", "large"))
}

func TestKeyHasCustomerAndModel(t *testing.T) {
	req, err := http.NewRequest(http.MethodPost, "http://models.invalid/v1/large/complete?q=1", nil)
	require.NoError(t, err)
	req.Header.Set("X-Customer", "bob")
	assert.Equal(t, "bob/large", keyOf(req))
}

func TestFilesThatMakeNoSense(t *testing.T) {
	for text, says := range map[string]string{
		`{`:                                  "unexpected EOF",
		`{"tiers": {"a": {"per_minut": 1}}}`: "unknown field",
		`{"tiers": {"a": {"per_minute": 1, "per_day": 1, "burst": 1}}}`:                                             "no models",
		`{"tiers": {"a": {"per_minute": 0, "per_day": 1, "burst": 1, "models": ["m"]}}}`:                            "a: budget",
		`{"tiers": {"a": {"per_minute": 1, "per_day": -1, "burst": 1, "models": ["m"]}}}`:                           "a: budget",
		`{"tiers": {"a": {"per_minute": 1, "per_day": 9, "burst": 1, "models": ["m"]}}, "customers": {"ada": "b"}}`: `"b", which does not exist`,
	} {
		_, err := readPlan(strings.NewReader(text))
		assert.ErrorContains(t, err, says, text)
	}
	_, err := load(filepath.Join(t.TempDir(), "none.json"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestOwnFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tiers.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"tiers": {"only": {"per_minute": 60, "per_day": 600, "models": ["m"]}}, "customers": {"c": "only"}}`), 0o600))
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		require.NoError(t, run(&out, file, 3))
		assert.Contains(t, out.String(), "c         only  m      1     2\n", "without a burst the calls are spaced")
	})
}
