package redisbudget

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/internal/seal"
)

func unconnected(t *testing.T) redis.UniversalClient {
	c := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: []string{"127.0.0.1:1"}})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestNewHasDefaults(t *testing.T) {
	s, err := New(unconnected(t))
	require.NoError(t, err)
	assert.Equal(t, config{prefix: "throttle:", timeout: 100 * time.Millisecond, outage: Share, processes: 1}, s.config)
	s.Sealed(seal.Seal{})
}

func TestEachOptionChangesWhatItSays(t *testing.T) {
	s, err := New(unconnected(t), WithPrefix("a/b:"), WithTimeout(time.Second), WithOutage(Open), WithProcesses(7))
	require.NoError(t, err)
	assert.Equal(t, config{prefix: "a/b:", timeout: time.Second, outage: Open, processes: 7}, s.config)
}

func TestBadOptionsSayWhatIsWrong(t *testing.T) {
	for want, o := range map[string]Option{
		`WithPrefix("")`:                Option(WithPrefix("")),
		`WithPrefix("{x}")`:             WithPrefix("{x}"),
		`WithPrefix("a b")`:             WithPrefix("a b"),
		`WithPrefix("k*")`:              WithPrefix("k*"),
		`use 1 to 64 printable`:         WithPrefix(strings.Repeat("x", 65)),
		`WithTimeout(0s)`:               WithTimeout(0),
		`WithTimeout(-1s)`:              WithTimeout(-time.Second),
		`WithTimeout(11s)`:              WithTimeout(11 * time.Second),
		`WithOutage(Outage(3))`:         WithOutage(3),
		`WithProcesses(0)`:              WithProcesses(0),
		`WithProcesses(1000001)`:        WithProcesses(1_000_001),
		`option 2 is nil: leave it out`: nil,
	} {
		_, err := New(unconnected(t), WithOutage(Share), o)
		assert.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, "redisbudget: ")
	}
	_, err := New(nil)
	assert.ErrorContains(t, err, "redis.NewUniversalClient")
}

func TestOpenRefusesPoliciesThatMakeNoSense(t *testing.T) {
	s, err := New(unconnected(t))
	require.NoError(t, err)
	_, err = s.Open("host", []budget.Policy{budget.PerMinute(5), budget.PerMinute(-1)}, func() {}, func(error) {})
	assert.ErrorContains(t, err, "Limit is -1")
}

func TestOutagesHaveNames(t *testing.T) {
	assert.Equal(t, []string{"share", "closed", "open", "Outage(9)"}, []string{Share.String(), Closed.String(), Open.String(), Outage(9).String()})
}
