package throttle

import (
	"encoding/json"
	"net/http"
	"runtime"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

func TestStateDescribesAKey(t *testing.T) {
	inBubble(t, []Option{WithPolicies(named("burst", budget.PerSecond(2).WithBurst(4)), budget.PerMinute(5000).Of(budget.Tokens))}, func(t *testing.T, tr *Transport) {
		_, ok := tr.State("k")
		require.False(t, ok)
		assert.Empty(t, tr.Snapshot(), "asking makes nothing")
		next := race(t, tr, 7, Call{Cost: tokens(500)})
		synctest.Wait()
		for range 4 {
			next()
		}
		held, _ := take(t, tr, Call{Key: "l"})
		time.Sleep(250 * time.Millisecond)
		tr.Hold("l", time.Minute)
		k, ok := tr.State("k")
		require.True(t, ok)
		assert.Equal(t, 3, k.Waiting)
		assert.Zero(t, k.InFlight)
		assert.Equal(t, BudgetState{Name: "burst", Unit: budget.Requests, Limit: 2, Window: time.Second, Used: 3.5, Available: 0.5, Next: k.Budgets[0].Next}, k.Budgets[0])
		assert.Equal(t, epoch.Add(500*time.Millisecond), k.Budgets[0].Next.UTC())
		assert.Equal(t, BudgetState{Unit: budget.Tokens, Limit: 5000, Window: time.Minute, Used: 2000, Available: 3000, Next: k.Budgets[1].Next}, k.Budgets[1])
		both := tr.Snapshot()
		require.Len(t, both, 2)
		assert.Equal(t, "k", both[0].Key)
		assert.Equal(t, 1, both[1].InFlight)
		assert.Equal(t, 250*time.Millisecond, both[1].OldestInFlight)
		assert.Equal(t, CauseHold, both[1].HoldCause)
		held.Done()
		for range 3 {
			next()
		}
	})
}

func TestStateAsJSON(t *testing.T) {
	inBubble(t, []Option{WithPolicies(named("day", budget.PerDay(1000)))}, func(t *testing.T, tr *Transport) {
		take(t, tr, Call{})
		time.Sleep(1500 * time.Millisecond)
		tr.Hold("k", time.Minute)
		text, err := json.Marshal(tr.Snapshot())
		require.NoError(t, err)
		assert.JSONEq(t, `[{"key":"k","waiting":0,"in_flight":1,"oldest_in_flight":1.5,"hold":"2000-01-01T00:01:01.5Z","hold_cause":"hold",
			"budgets":[{"name":"day","unit":"requests","source":"declared","limit":1000,"window":86400,"used":1,"available":999,"next":"2000-01-02T00:00:00Z"}]}]`, utc(t, text))
	})
	text, err := json.Marshal(KeyState{Key: "k"})
	require.NoError(t, err)
	assert.JSONEq(t, `{"key":"k","waiting":0,"in_flight":0,"budgets":[]}`, string(text))
	text, err = json.Marshal(BudgetState{Unit: "tokens", Source: SourceAdaptive, Limit: -1, Used: -1, Available: -1})
	require.NoError(t, err)
	assert.JSONEq(t, `{"unit":"tokens","source":"adaptive"}`, string(text), "what is unknown is absent")
	assert.Equal(t, "shared", SourceShared.String())
	assert.Equal(t, "server", SourceServer.String())
	assert.Equal(t, "unknown", Source(99).String())
}

// utc turns the times in a JSON text, which bear the machine's zone, to UTC.
func utc(t *testing.T, text []byte) string {
	t.Helper()
	var all []map[string]any
	require.NoError(t, json.Unmarshal(text, &all))
	turn := func(m map[string]any, field string) {
		at, err := time.Parse(time.RFC3339, m[field].(string))
		require.NoError(t, err)
		m[field] = at.UTC()
	}
	for _, s := range all {
		turn(s, "hold")
		for _, b := range s["budgets"].([]any) {
			turn(b.(map[string]any), "next")
		}
	}
	out, err := json.Marshal(all)
	require.NoError(t, err)
	return string(out)
}

// heapInUse is what lives on the heap.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A hundred thousand keys that nobody uses any more are dropped, and their memory comes back.
func TestIdleKeysAreForgotten(t *testing.T) {
	const keys = 100_000
	inBubble(t, []Option{WithPolicies(budget.PerMinute(10))}, func(t *testing.T, tr *Transport) {
		before := heapInUse()
		w := waiter{ticket: &ticket{cost: newCost(nil), mute: true}}
		for i := range keys {
			l, _ := tr.lane(background, strconv.Itoa(i), nil)
			if err := l.enter(background, &w); err != nil {
				t.Fatal(err)
			}
			l.leave(w.ticket)
		}
		tr.mu.RLock()
		require.Len(t, tr.lanes, keys)
		tr.mu.RUnlock()
		grown := heapInUse() - before
		time.Sleep(2*idleLife + time.Second)
		assert.Empty(t, tr.Snapshot())
		kept := heapInUse() - before
		t.Logf("%d bytes per key", grown/keys)
		assert.Less(t, kept, grown/50, "of %d bytes per key", grown/keys)
		_, at := take(t, tr, Call{Key: "7"})
		assert.Equal(t, 2*idleLife+time.Second, at, "and what comes later starts anew")
	})
}

// What is still needed stays: spent units, waiting calls, calls in flight, holds.
func TestKeysThatRememberSomethingAreKept(t *testing.T) {
	inBubble(t, []Option{WithPolicyFunc(func(key string, _ *http.Request) ([]budget.Policy, error) {
		if key == "spent" {
			return []budget.Policy{budget.PerDay(100)}, nil
		}
		return []budget.Policy{budget.PerMinute(1)}, nil
	}), WithMaxHold(24 * time.Hour)}, func(t *testing.T, tr *Transport) {
		for _, key := range []string{"idle", "spent", "waiting"} {
			p, _ := take(t, tr, Call{Key: key})
			p.Done()
		}
		flying, _ := take(t, tr, Call{Key: "flying"})
		tr.Hold("held", 20*time.Minute)
		tr.Hold("waiting", 19*time.Minute)
		waited := make(chan error, 31)
		for range 31 {
			go func() { _, err := tr.Acquire(t.Context(), Call{Key: "waiting"}); waited <- err }()
		}
		keys := func() (all []string) {
			for _, s := range tr.Snapshot() {
				all = append(all, s.Key)
			}
			return all
		}
		time.Sleep(15 * time.Minute)
		assert.Equal(t, []string{"flying", "held", "spent", "waiting"}, keys())
		flying.Done()
		for range 31 {
			require.NoError(t, <-waited)
		}
		assert.Equal(t, 49*time.Minute, time.Since(epoch))
		time.Sleep(15 * time.Minute)
		assert.Equal(t, []string{"spent", "waiting"}, keys(), "the permits of those that waited are not done")
		time.Sleep(24 * time.Hour)
		assert.Equal(t, []string{"waiting"}, keys())
	})
}
