package throttle

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

// comeAndGo lets many callers acquire again and again, and is how many permits they got.
func comeAndGo(t *testing.T, callers, times int, once func() error) int64 {
	t.Helper()
	var got atomic.Int64
	var gone sync.WaitGroup
	for range callers {
		gone.Go(func() {
			for range times {
				if once() == nil {
					got.Add(1)
				}
			}
		})
	}
	gone.Wait()
	return got.Load()
}

// A crowd that grows and shrinks around the size from which it is one: nobody may be left standing where nobody looks. In a bubble that would be a
// deadlock.
func TestNobodyIsForgottenAtTheIntake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, err := NewTransport(newServer(always), WithPolicies(budget.PerSecond(50_000).WithBurst(20)))
		require.NoError(t, err)
		defer tr.Close()
		got := comeAndGo(t, 3*throng, 100, func() error {
			p, err := tr.Acquire(context.Background(), Call{Key: "k"})
			if err == nil {
				time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond)
				p.Done()
			}
			return err
		})
		assert.EqualValues(t, 3*throng*100, got)
	})
}

// Who gives up at the intake leaves no trace: what is admitted is what the policy allows.
func TestGivingUpAtTheIntake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, err := NewTransport(newServer(always), WithPolicies(budget.PerSecond(10_000).WithBurst(1)))
		require.NoError(t, err)
		defer tr.Close()
		start := time.Now()
		got := comeAndGo(t, 4*throng, 50, func() error {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if rand.IntN(2) == 0 {
				time.AfterFunc(time.Duration(rand.IntN(int(40*time.Millisecond))), cancel)
			}
			p, err := tr.Acquire(ctx, Call{Key: "k"})
			if err == nil {
				p.Done()
			}
			return err
		})
		assert.InDelta(t, 10_000*time.Since(start).Seconds(), got, 2+10_000*lateSlack.Seconds())
		state, _ := tr.State("k")
		assert.Zero(t, state.Waiting)
		assert.Zero(t, state.InFlight)
	})
}

// Everybody is told when the transport is closed, also who comes in that moment.
func TestCloseTellsTheIntake(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			tr, err := NewTransport(newServer(always), WithPolicies(budget.PerSecond(1000).WithBurst(1)))
			require.NoError(t, err)
			var gone sync.WaitGroup
			for range 10 * throng {
				gone.Go(func() {
					p, err := tr.Acquire(context.Background(), Call{Key: "k"})
					if err == nil {
						p.Done()
						return
					}
					assert.ErrorIs(t, err, ErrClosed)
				})
			}
			time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond)
			tr.Close()
			gone.Wait()
		})
	}
}

// Changes from outside while a crowd comes: holds, other policies, looks at the state.
func TestChangesWhileACrowdComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, err := NewTransport(newServer(always), WithPolicies(budget.PerSecond(20_000).WithBurst(5)))
		require.NoError(t, err)
		defer tr.Close()
		var changes sync.WaitGroup
		changes.Go(func() {
			for i := range 50 {
				time.Sleep(2 * time.Millisecond)
				switch i % 4 {
				case 0:
					tr.Hold("k", time.Second)
				case 1:
					tr.Resume("k")
				case 2:
					assert.NoError(t, tr.SetPolicies(budget.PerSecond(float64(10_000+i)).WithBurst(5)))
				default:
					tr.Snapshot()
				}
			}
		})
		got := comeAndGo(t, 4*throng, 40, func() error {
			p, err := tr.Acquire(context.Background(), Call{Key: "k"})
			if err == nil {
				p.Done()
			}
			return err
		})
		changes.Wait()
		assert.EqualValues(t, 4*throng*40, got)
	})
}

// Who has come when the last of the crowd leaves is looked at before the lane rests.
func TestIntakeIsEmptiedWhenItIsShut(t *testing.T) {
	tr, err := NewTransport(newServer(always), WithPolicies(budget.PerSecond(1000).WithBurst(1)))
	require.NoError(t, err)
	defer tr.Close()
	l, err := tr.lane(background, "k", nil)
	require.NoError(t, err)
	newcomer := func() *waiter {
		return &waiter{ticket: &ticket{cost: newCost(nil), mute: true, class: l.order[0]}, ready: newReady()}
	}
	l.lock()
	defer l.mu.Unlock()
	now := time.Now()
	for range throng + 1 {
		l.push(newcomer())
	}
	l.pump(now)
	require.NotNil(t, l.intake.crowd.Load())
	late := newcomer()
	late.start = now
	l.intake.stand(late)
	for i := 0; late.flight == nil && i < 2*throng; i++ {
		now = now.Add(time.Millisecond)
		l.pump(now)
	}
	assert.NotNil(t, late.flight)
	assert.Nil(t, l.intake.crowd.Load())
}

// Who is refused at the intake is not looked at any more once told: its record may be in use again by then, which the race detector sees.
func TestRefusedAtTheIntake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const scarce, other = "http://api.example/scarce", "http://api.example/other"
		s := newServer(always)
		s.latency = time.Second
		c, tr := client(t, s, WithPolicies(budget.PerSecond(1000).WithBurst(1)), WithRoute("/scarce", budget.PerDay(200)))
		var gone sync.WaitGroup
		for range 200 + 6*throng {
			gone.Go(func() { get(c, scarce) })
		}
		synctest.Wait()
		for range 4 * throng {
			gone.Go(func() { get(c, other) })
		}
		time.Sleep(1300 * time.Millisecond) // after the first answer, some of the others go
		l := tr.find("api.example")
		require.True(t, l.intake.crowd.Load() == l.order[1])
		for range throng {
			gone.Go(func() {
				_, _, err := get(c, scarce)
				assert.ErrorIs(t, err, ErrMaxHold)
			})
		}
		gone.Wait()
	})
}

// A crowd of one class keeps nobody waiting who draws on other budgets.
func TestOtherClassesDoNotStandAtTheIntake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slow, fast = "http://api.example/slow", "http://api.example/fast"
		c, _ := client(t, newServer(always), WithRoute("/slow", budget.PerSecond(200).WithBurst(1)))
		flood(t, c, 2, slow)
		var gone sync.WaitGroup
		for range 4 * throng {
			gone.Go(func() { get(c, slow) })
		}
		time.Sleep(50 * time.Millisecond)
		start := time.Now()
		flood(t, c, 2*throng, fast)
		for range 10 {
			get(c, fast)
		}
		assert.Zero(t, time.Since(start))
		gone.Wait()
	})
}
