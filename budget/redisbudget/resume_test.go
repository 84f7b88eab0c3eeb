package redisbudget

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	throttle "github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/budget"
)

// The law: a hold that is ended leaves a bucket that begins empty, and slots that lay behind it are given back.
func TestAHoldThatIsEndedIsOver(t *testing.T) {
	client := startRedis(t).client()
	for _, a := range []budget.Algorithm{budget.TokenBucket, budget.LeakyBucket} {
		l := newLaw(t, client, a.String(), budget.PerSecond(10).WithBurst(5).Using(a))
		l.ask(midnight, &ask{hold: 10 * time.Second})
		assert.Equal(t, []float64{10_100, 10_200}, from(l.lease(midnight, 2, 0)))
		r := l.ask(millis(1000), &ask{resumes: millis(-1)})
		assert.Equal(t, 9*time.Second, r.hold, "one that began later goes on")
		r = l.ask(millis(1000), &ask{resumes: millis(1000), back: []float64{2}, age: -9200 * time.Millisecond})
		assert.Zero(t, r.hold)
		assert.Equal(t, -float64(millis(1000).UnixMicro()), r.changed)
		assert.InDeltaSlice(t, []float64{100, 200}, from(l.lease(millis(1000), 2, 0)), 0.01, "%v: paced, not a burst", a)
		assert.Equal(t, 5*time.Second, l.ask(millis(2000), &ask{hold: 5 * time.Second}).hold, "the next one counts")
	}
}

func TestResumeEndsTheHoldOfAll(t *testing.T) {
	t.Parallel()
	s := startRedis(t)
	var all [3]*caller
	for i := range all {
		all[i] = join(t, s.store(), "host", budget.PerSecond(50).WithBurst(5))
		require.True(t, all[i].wait(within(t, 5*time.Second), nil, nil))
	}
	all[0].account.Hold(time.Now().Add(time.Hour))
	held := func(want bool) func() bool {
		return func() bool {
			for _, c := range all {
				if c.account.Held().After(time.Now()) != want {
					return false
				}
			}
			return true
		}
	}
	require.Eventually(t, held(true), 5*time.Second, time.Millisecond)
	assert.Zero(t, all[2].account.Resumed())
	all[1].account.Resume()
	require.Eventually(t, held(false), 5*time.Second, time.Millisecond)
	for _, c := range all {
		assert.True(t, c.wait(within(t, 5*time.Second), nil, nil))
	}
	assert.NotZero(t, all[0].account.Resumed())
	assert.NotZero(t, all[2].account.Resumed())
}

// What a process holds its own key for, since it met the refusal, ends too.
func TestTransportResumeEndsAHoldThatAnotherProcessMet(t *testing.T) {
	t.Parallel()
	s := startRedis(t)
	refuse := true
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if refuse {
			refuse = false
			w.Header().Set("Retry-After", "1800")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	t.Cleanup(site.Close)
	process := func() *throttle.Transport {
		tr, err := throttle.NewTransport(nil, throttle.WithPolicies(budget.PerSecond(50).WithBurst(5)), throttle.WithStore(s.store()))
		require.NoError(t, err)
		t.Cleanup(func() { _ = tr.Close(); tr.CloseIdleConnections() })
		return tr
	}
	met, other := process(), process()
	key := met.Key(httptest.NewRequest(http.MethodGet, site.URL, nil))
	done := make(chan error, 2)
	get := func(tr *throttle.Transport) {
		resp, err := (&http.Client{Transport: tr}).Get(site.URL)
		if err == nil {
			err = resp.Body.Close()
			assert.Equal(t, http.StatusOK, resp.StatusCode)
		}
		done <- err
	}
	go get(met)
	waits := func(tr *throttle.Transport) func() bool {
		return func() bool {
			st, known := tr.State(key)
			return known && st.Waiting == 1
		}
	}
	require.Eventually(t, func() bool {
		st, known := met.State(key)
		return known && st.Hold.After(time.Now())
	}, 5*time.Second, time.Millisecond)
	go get(other)
	require.Eventually(t, waits(other), 5*time.Second, time.Millisecond)
	time.Sleep(100 * time.Millisecond)
	assert.Empty(t, done, "both wait")
	other.Resume(key)
	for range 2 {
		select {
		case err := <-done:
			assert.NoError(t, err)
		case <-time.After(10 * time.Second):
			t.Fatal("a call still waits")
		}
	}
}
