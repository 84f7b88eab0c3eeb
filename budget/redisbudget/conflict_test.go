package redisbudget

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	throttle "github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/budget"
)

// until drains a caller until something holds.
func (c *caller) until(t *testing.T, holds func() bool) {
	t.Helper()
	require.Eventually(t, func() bool {
		c.drain(within(t, 20*time.Millisecond))
		return holds()
	}, 10*time.Second, time.Millisecond)
}

// oneSentence checks that an error is told in one line, once.
func oneSentence(t *testing.T, err error) {
	t.Helper()
	assert.NotContains(t, err.Error(), "\n")
	assert.Equal(t, 1, strings.Count(err.Error(), "redisbudget: "))
	assert.Less(t, len(err.Error()), 250)
}

func TestAWrongAddressIsToldAndTheShareGoesOn(t *testing.T) {
	t.Parallel()
	client := redis.NewClient(&redis.Options{Addr: freeAddr(t), DialerRetries: 1})
	t.Cleanup(func() { _ = client.Close() })
	s, err := New(client, WithProcesses(2))
	require.NoError(t, err)
	c := join(t, s, "host", budget.PerSecond(100).WithBurst(10))
	c.until(t, func() bool { return len(c.news()) > 0 })
	oneSentence(t, c.news()[0])
	assert.ErrorContains(t, c.news()[0], "redisbudget: nothing answers there as Redis: start it, or check the address")
	assert.ErrorContains(t, c.news()[0], client.Options().Addr)
	n := c.drain(within(t, time.Second))
	assert.InDelta(t, 50, n, 15, "half of the limit")
	assert.Len(t, c.news(), 1, "it is told once")
}

func TestAWrongPasswordIsTold(t *testing.T) {
	t.Parallel()
	r := startRedis(t, "--requirepass", "right")
	if r.mini != nil {
		r.mini.RequireAuth("right")
	}
	client := redis.NewClient(&redis.Options{Addr: r.addr, Password: "wrong-secret"})
	t.Cleanup(func() { _ = client.Close() })
	s, err := New(client, WithTimeout(5*time.Second))
	require.NoError(t, err)
	c := join(t, s, "host", budget.PerSecond(100))
	c.until(t, func() bool { return len(c.news()) > 0 })
	oneSentence(t, c.news()[0])
	assert.ErrorContains(t, c.news()[0], "redisbudget: Redis refuses the user or the password: check those of the client")
	assert.ErrorContains(t, c.news()[0], "WRONGPASS")
	assert.NotContains(t, c.news()[0].Error(), "wrong-secret")
	assert.NotContains(t, c.news()[0].Error(), "right")
}

// Of two processes with different limits, that which began later wins, and the other is told.
func TestTheLimitsOfWhoBeganLastCount(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	old := join(t, r.store(), "host", budget.PerSecond(1000).WithBurst(5))
	require.True(t, old.wait(within(t, 5*time.Second), nil, nil))
	young := join(t, r.store(), "host", budget.PerSecond(20).WithBurst(5))
	require.True(t, young.wait(within(t, 5*time.Second), nil, nil))
	old.until(t, func() bool { return len(old.news()) > 0 })
	var wrong *LimitsError
	require.ErrorAs(t, old.news()[0], &wrong)
	assert.ErrorContains(t, wrong, `key "host" has other limits in another process that began later: here 1000 requests/second burst 5 token-bucket, there 20 requests/second burst 5 token-bucket: the latter count`)
	old.drain(within(t, 500*time.Millisecond))
	assert.InDelta(t, 20, old.drain(within(t, time.Second)), 12, "not its own thousand")
	assert.Empty(t, young.news())
	assert.Len(t, old.news(), 1)
}

// Other units cannot be shared at all: who began later counts, the other goes on by itself and is told why.
func TestOtherUnitsAreToldAsAnOutage(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	old := join(t, r.store(), "host", budget.PerSecond(100).WithBurst(5))
	require.True(t, old.wait(within(t, 5*time.Second), nil, nil))
	young := join(t, r.store(), "host", budget.PerSecond(100), budget.PerSecond(1000).Of(budget.Tokens))
	require.True(t, young.wait(within(t, 5*time.Second), budget.Cost{budget.Tokens: 10}, nil))
	old.until(t, func() bool { return len(old.news()) > 0 })
	var wrong *ShapeError
	require.ErrorAs(t, old.news()[0], &wrong)
	assert.ErrorContains(t, wrong, "give all processes the same policies")
	assert.NotZero(t, old.drain(within(t, time.Second)), "by its share")
}

// refusal is an error that Redis itself answers with.
type refusal string

func (r refusal) Error() string { return string(r) }
func (refusal) RedisError()     {}

// A user that may not run scripts is told so.
func TestAUserWithoutRightsIsTold(t *testing.T) {
	err := (&account{}).explain(errors.New("NOPERM User 'x' has no permissions to run the 'evalsha' command"))
	oneSentence(t, err)
	assert.ErrorContains(t, err, "may not do this in Redis: allow it EVAL")
	err = (&account{}).explain(errors.New("LOADING Redis is loading the dataset in memory"))
	assert.EqualError(t, err, "redisbudget: LOADING Redis is loading the dataset in memory")
	for want, raw := range map[string]string{
		"may not do this in Redis":                "ERR The user executing the script can't run this command or subcommand script: 0, on @user_script:1.",
		"this is a replica: give New a client":    "READONLY You can't write against a read only replica. script: 0, on @user_script:1.",
		"give New a redis.ClusterClient: MOVED 1": "MOVED 15281 127.0.0.1:7001",
	} {
		err = (&account{}).explain(refusal(raw))
		oneSentence(t, err)
		assert.ErrorContains(t, err, want)
	}
	assert.Same(t, errLate, (&account{view: view{epoch: "e"}}).explain(errLate))
}

// What is wrong with one key does not stop the others.
func TestSomeErrorsConcernOneKey(t *testing.T) {
	for _, one := range []string{"MOVED 15281 127.0.0.1:7001", "ASK 15281 127.0.0.1:7001", "WRONGTYPE x", "ERR x"} {
		assert.True(t, ofKey(refusal(one)), one)
	}
	for _, all := range []string{"ERR max number of clients reached", "LOADING x", "OOM x", "READONLY x", "NOAUTH x"} {
		assert.False(t, ofKey(refusal(all)), all)
	}
}

func TestOtherDataInTheKeyIsNotTakenForOurs(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	require.NoError(t, r.client().Set(context.Background(), namesOf("throttle:", "host").state, "x", 0).Err())
	c := join(t, r.store(), "host", budget.PerSecond(100))
	c.until(t, func() bool { return len(c.news()) > 0 })
	assert.ErrorContains(t, c.news()[0], "WRONGTYPE")
	for _, raw := range []any{nil, "ok", []any{"no"}, []any{"ok"}, []any{"ok", "e", "", "x", int64(1)}, []any{"ok", "e", "", "1", int64(1), "1", "1", "1", "1", "1", []any{"1"}, []any{}}} {
		_, err := parse(raw)
		assert.ErrorIs(t, err, errReply)
	}
}

// Under Closed a call fails at once while Redis is away, with an error that says so; and works again when it is back.
func TestClosedFailsCallsAtOnce(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	site := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(site.Close)
	store := r.store(WithOutage(Closed), WithTimeout(300*time.Millisecond))
	var mu sync.Mutex
	var told []error
	tr, err := throttle.NewTransport(nil, throttle.WithPolicies(budget.PerSecond(100).WithBurst(5)), throttle.WithStore(store),
		throttle.WithObserver(throttle.ObserverFunc(func(_ context.Context, e throttle.Event) {
			if e.Kind == throttle.KindDegraded {
				mu.Lock()
				told = append(told, e.Err)
				mu.Unlock()
			}
		})))
	require.NoError(t, err)
	t.Cleanup(func() { _ = tr.Close(); tr.CloseIdleConnections() })
	client := &http.Client{Transport: tr}
	get := func() error {
		resp, err := client.Get(site.URL)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	require.NoError(t, get())
	r.kill()
	require.Eventually(t, func() bool { return get() != nil }, 10*time.Second, 10*time.Millisecond)
	err = get()
	require.ErrorIs(t, err, ErrAway)
	var limit *throttle.LimitError
	require.ErrorAs(t, err, &limit)
	r.start()
	require.Eventually(t, func() bool { return get() == nil }, 10*time.Second, 10*time.Millisecond)
	mu.Lock()
	defer mu.Unlock()
	require.Len(t, told, 2)
	assert.Error(t, told[0])
	assert.NoError(t, told[1])
}
