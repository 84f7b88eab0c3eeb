package throttle

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

// A hold concerns everybody, but the queue behind a call is not its own wait.
func TestHoldTellsOnlyThoseWhoCannotWait(t *testing.T) {
	inBubble(t, []Option{WithPolicies(budget.PerSecond(5).WithBurst(1))}, func(t *testing.T, tr *Transport) {
		take(t, tr, Call{})
		early, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		first := make(chan error, 1)
		go func() { _, err := tr.Acquire(early, Call{Key: "k"}); first <- err }()
		late := make(chan error, 1)
		short, cancel := context.WithTimeout(t.Context(), 9*time.Second)
		defer cancel()
		go func() { time.Sleep(time.Nanosecond); _, err := tr.Acquire(short, Call{Key: "k"}); late <- err }()
		time.Sleep(2 * time.Nanosecond)
		next := race(t, tr, 200, Call{})
		time.Sleep(time.Nanosecond)
		tr.Hold("k", 10*time.Second)
		err := <-late
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Duration(3), time.Since(epoch), "told at once")
		assert.NoError(t, <-first, "forty seconds of work stand behind it, none before")
		assert.Equal(t, 10*time.Second+3, time.Since(epoch))
		for range 200 {
			next()
		}
	})
}

func TestHoldIsExtendedOnlyAndResumeEndsIt(t *testing.T) {
	inBubble(t, []Option{WithMaxInFlight(10)}, func(t *testing.T, tr *Transport) {
		tr.Hold("k", time.Minute)
		tr.Hold("k", time.Second)
		s, ok := tr.State("k")
		require.True(t, ok)
		assert.Equal(t, epoch.Add(time.Minute), s.Hold.UTC())
		assert.Equal(t, CauseHold, s.HoldCause)
		next := race(t, tr, 3, Call{})
		time.Sleep(5 * time.Second)
		tr.Hold("k", 10*time.Minute)
		time.Sleep(5 * time.Second)
		tr.Resume("k")
		for range 3 {
			assert.Equal(t, 10*time.Second, next())
		}
		s, _ = tr.State("k")
		assert.Zero(t, s.Hold)
		tr.Resume("nobody")
		_, ok = tr.State("nobody")
		assert.False(t, ok)
	})
}

// A hold above the max hold closes the key: those who wait are told at once, those who come likewise, until it ends.
func TestHoldAboveMaxHoldClosesTheKey(t *testing.T) {
	inBubble(t, []Option{WithMaxHold(time.Minute)}, func(t *testing.T, tr *Transport) {
		tr.Hold("k", time.Second)
		told := make(chan error, 50)
		for range 50 {
			go func() { _, err := tr.Acquire(t.Context(), Call{Key: "k"}); told <- err }()
		}
		synctest.Wait()
		tr.Hold("k", 48*time.Hour)
		for range 50 {
			require.ErrorIs(t, <-told, ErrMaxHold)
		}
		assert.Zero(t, time.Since(epoch))
		limit := refusal(t, tr, t.Context(), Call{}, ErrMaxHold)
		assert.Equal(t, 24*time.Hour, limit.Wait, "no word is believed for longer than a day")
		time.Sleep(24*time.Hour - time.Minute)
		_, at := take(t, tr, Call{})
		assert.Equal(t, 24*time.Hour, at)
	})
}

// What is left of a day ends while calls wait for a faster limit: those who would have to wait for tomorrow are told then, not tomorrow.
func TestAnEmptyDayTellsThoseWhoWait(t *testing.T) {
	inBubble(t, []Option{WithPolicies(budget.PerSecond(1).WithBurst(1), budget.PerDay(50))}, func(t *testing.T, tr *Transport) {
		told := make(chan error, 90)
		for range 90 {
			go func() {
				p, err := tr.Acquire(t.Context(), Call{Key: "k"})
				if err == nil {
					p.Done()
				}
				told <- err
			}()
		}
		refused := 0
		for range 90 {
			var limit *LimitError
			if errors.As(<-told, &limit) {
				require.ErrorIs(t, limit, ErrMaxHold)
				assert.Greater(t, limit.Wait, 23*time.Hour)
				refused++
			}
		}
		assert.Equal(t, 40, refused)
		assert.Less(t, time.Since(epoch), 55*time.Second, "told as soon as the day was empty")
		s, _ := tr.State("k")
		assert.Zero(t, s.Waiting)
	})
}

// Where newcomers are taken in while others are looked at, some are younger than the look.
func TestNobodyWasHeldBeforeItCame(t *testing.T) {
	now := time.Now()
	assert.Zero(t, new(lane).heldOf(&waiter{start: now.Add(time.Millisecond)}, now))
}
