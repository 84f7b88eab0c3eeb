package throttle

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

// tiers is a policy function that counts how often it is asked.
type tiers struct {
	mu    sync.Mutex
	asked map[string]int
	limit float64
	takes time.Duration
}

var errTier = errors.New("model not in your tier")

func (s *tiers) of(key string, req *http.Request) ([]budget.Policy, error) {
	time.Sleep(s.takes)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked == nil {
		s.asked = map[string]int{}
	}
	s.asked[key]++
	if key == "stranger" {
		return nil, errTier
	}
	return []budget.Policy{named(key, budget.PerMinute(s.limit))}, nil
}

func TestPolicyFunctionIsAskedOncePerKey(t *testing.T) {
	s := &tiers{limit: 50, takes: time.Second}
	inBubble(t, []Option{WithPolicyFunc(s.of), WithPolicies(budget.PerMinute(1000))}, func(t *testing.T, tr *Transport) {
		var wg sync.WaitGroup
		for range 20 {
			for _, key := range []string{"k", "other"} {
				wg.Go(func() { take(t, tr, Call{Key: key}) })
			}
		}
		wg.Wait()
		assert.Equal(t, map[string]int{"k": 1, "other": 1}, s.asked)
		assert.Equal(t, 30.0, available(t, tr, "k"))
		assert.Equal(t, 980.0, available(t, tr, ""))

		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		go func() { _, _ = tr.Acquire(t.Context(), Call{Key: "slow"}) }()
		time.Sleep(time.Nanosecond)
		_, err := tr.Acquire(ctx, Call{Key: "slow"})
		assert.ErrorIs(t, err, context.DeadlineExceeded, "nobody has to wait for another's question")
		time.Sleep(time.Minute)
	})
}

func TestPolicyFunctionMayRefuse(t *testing.T) {
	s := &tiers{limit: 5}
	inBubble(t, []Option{WithPolicyFunc(s.of)}, func(t *testing.T, tr *Transport) {
		for range 2 {
			_, err := tr.Acquire(t.Context(), Call{Key: "stranger"})
			assert.ErrorIs(t, err, errTier)
			var limit *LimitError
			require.ErrorAs(t, err, &limit)
			assert.Equal(t, "stranger", limit.Key)
		}
		assert.Equal(t, 2, s.asked["stranger"], "who was refused may ask again")
		s.limit = -1
		_, err := tr.Acquire(t.Context(), Call{Key: "k"})
		assert.ErrorContains(t, err, "WithPolicyFunc: budget")
	})
}

// After SetPolicies it is asked again, at once where calls wait; what was spent stays spent.
func TestPolicyFunctionIsAskedAgain(t *testing.T) {
	s := &tiers{limit: 5}
	inBubble(t, []Option{WithPolicyFunc(s.of)}, func(t *testing.T, tr *Transport) {
		next := race(t, tr, 8, Call{})
		for range 5 {
			next()
		}
		take(t, tr, Call{Key: "idle"})
		time.Sleep(time.Second)
		s.limit = 7
		require.NoError(t, tr.SetPolicies())
		next()
		assert.Equal(t, time.Second, next())
		assert.Equal(t, map[string]int{"k": 2, "idle": 1}, s.asked)
		assert.Equal(t, time.Minute, next())
		take(t, tr, Call{Key: "idle"})
		assert.Equal(t, map[string]int{"k": 2, "idle": 2}, s.asked)
		assert.Equal(t, 6.0, budgetOf(t, tr, "idle", "idle").Available, "the first is a minute ago")
	})
}

// SetPolicies while the policy function is at work: what that says is out of date, and it is asked again.
func TestSetPoliciesWhileThePolicyFunctionIsAtWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var limit atomic.Int64
		limit.Store(10)
		c, tr := client(t, newServer(always), WithPolicyFunc(func(string, *http.Request) ([]budget.Policy, error) {
			n := float64(limit.Load())
			time.Sleep(time.Second)
			return []budget.Policy{budget.PerMinute(n)}, nil
		}))
		time.AfterFunc(time.Second/2, func() {
			limit.Store(1000)
			assert.NoError(t, tr.SetPolicies())
		})
		prompt(t, c, api, 3*time.Second)
		assert.Equal(t, 1000.0, budgetOf(t, tr, "api.example", "").Limit)
	})
}

// A crowd that is refused costs one question, and not one after the other.
func TestAPolicyFunctionThatRefusesIsAskedOnceForACrowd(t *testing.T) {
	s := &tiers{takes: time.Second}
	inBubble(t, []Option{WithPolicyFunc(s.of)}, func(t *testing.T, tr *Transport) {
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * 10 * time.Millisecond)
				_, err := tr.Acquire(t.Context(), Call{Key: "stranger"})
				assert.ErrorIs(t, err, errTier)
				assert.Equal(t, time.Second, time.Since(epoch))
			})
		}
		wg.Wait()
		assert.Equal(t, 1, s.asked["stranger"])
	})
}

// Who asks for all and is cancelled meanwhile has an error of its own.
func TestACancelledQuestionIsNoAnswerToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s := newServer(always)
		c, _ := client(t, s, WithPolicyFunc(func(_ string, req *http.Request) ([]budget.Policy, error) {
			return nil, sleep(req.Context(), time.Second)
		}))
		time.AfterFunc(time.Second/2, cancel)
		go do(c, ctx, http.MethodGet, api, "")
		synctest.Wait()
		prompt(t, c, api, 2*time.Second)
	})
}
