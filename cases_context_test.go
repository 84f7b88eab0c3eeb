package throttle

import (
	"context"
	"errors"
	"io"
	"net"
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

// within is a context of so long, and its end.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// spaced is a policy of so many a second without a burst: a bucket of one.
func spaced(perSecond float64) budget.Policy { return budget.PerSecond(perSecond).WithBurst(1) }

func TestCTX01CancelledWaiterLeavesNoTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		cl, _ := client(t, s, WithPolicies(spaced(1)))
		flood(t, cl, 1, api)
		time.Sleep(100 * time.Millisecond)
		var wg sync.WaitGroup
		wg.Go(func() {
			_, _, err := do(cl, within(t, 400*time.Millisecond), http.MethodGet, api, "") // too near: refused at once
			assert.ErrorIs(t, err, context.DeadlineExceeded)
		})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(400*time.Millisecond, cancel)
		wg.Go(func() {
			_, _, err := do(cl, ctx, http.MethodGet, api, "")
			assert.ErrorIs(t, err, context.Canceled)
			assert.Equal(t, 500*time.Millisecond, time.Since(s.start))
		})
		synctest.Wait()
		flood(t, cl, 1, api)
		wg.Wait()
		at := s.times()
		require.Len(t, at, 2)
		assert.InDelta(t, time.Second, at[1], float64(50*time.Millisecond))
	})
}

func TestCTX01HundredSurvivorsOfAThousand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		cl, _ := client(t, s, WithPolicies(spaced(100)))
		flood(t, cl, 1, api)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(500*time.Millisecond, cancel)
		var wg sync.WaitGroup
		var cancelled atomic.Int32
		for i := range 1000 {
			wg.Go(func() {
				own := ctx
				if i%10 == 0 {
					own = t.Context()
				}
				if _, _, err := do(cl, own, http.MethodGet, api, ""); errors.Is(err, context.Canceled) {
					cancelled.Add(1)
				}
			})
		}
		wg.Wait()
		assert.LessOrEqual(t, time.Since(s.start), 1600*time.Millisecond)
		assert.EqualValues(t, 1001, int32(s.count())+cancelled.Load(), "whoever was not cancelled was sent")
	})
}

func TestCTX02CancelledContextSpendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		cl, tr := client(t, s, WithPolicies(budget.PerMinute(5)))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 10 {
			_, _, err := do(cl, ctx, http.MethodGet, api, "")
			require.ErrorIs(t, err, context.Canceled)
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, api, nil)
			require.NoError(t, err)
			_, err = tr.RoundTrip(req)
			require.ErrorIs(t, err, context.Canceled)
		}
		assert.Zero(t, s.count())
		flood(t, cl, 5, api)
		assert.Zero(t, time.Since(s.start))
	})
}

func TestCTX03RetryAfterBeyondTheDeadlineReturnsTheRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(func(int, *http.Request) reply {
			return reply{status: 429, header: map[string]string{"Retry-After": "30"}, body: "busy"}
		})
		cl, _ := client(t, s)
		resp, body, err := do(cl, within(t, 2*time.Second), http.MethodGet, api, "")
		require.NoError(t, err)
		assert.Zero(t, time.Since(s.start))
		assert.Equal(t, 429, resp.StatusCode)
		assert.Equal(t, "busy", body)
		assert.Equal(t, "30", resp.Header.Get("Retry-After"))
		assert.Equal(t, 1, s.count())
		r, _ := ResultOf(resp)
		assert.Equal(t, DeadlineTooNear, r.Stop)
		assert.Equal(t, 30*time.Second, r.Asked)
	})
}

func TestCTX05ClientTimeoutThatCannotHoldTheWaitFailsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		s.latency = 100 * time.Millisecond
		cl, _ := client(t, s, WithPolicies(spaced(0.2)), WithAttemptTimeout(2*time.Second), WithMaxWait(10*time.Second))
		flood(t, cl, 1, api)
		start := time.Now()
		short := &http.Client{Transport: cl.Transport, Timeout: 2 * time.Second}
		_, _, err := get(short, api)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Zero(t, time.Since(start))
		assert.ErrorContains(t, err, "needs 4.9")
		assert.Equal(t, 1, s.count())
		_, _, err = get(cl, api)
		require.NoError(t, err)
		assert.InDelta(t, 5100*time.Millisecond, time.Since(s.start), float64(60*time.Millisecond))
	})
}

func TestCTX06NothingIsSentAfterCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		cl, tr := client(t, s)
		tr.Hold("api.example", 30*time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() {
				_, _, err := do(cl, ctx, http.MethodGet, api, "")
				assert.ErrorIs(t, err, context.Canceled)
			})
		}
		wg.Wait()
		assert.Equal(t, time.Second, time.Since(s.start))
		assert.Zero(t, s.count())
		flood(t, cl, 1, api)
		assert.Equal(t, 30*time.Second, time.Since(s.start))
	})
}

// slowBody sends its headers after one time, and its bytes spread over another.
func slowBody(headersAfter, overall time.Duration, chunks int) roundTripper {
	return func(r *http.Request) (*http.Response, error) {
		if err := sleep(r.Context(), headersAfter); err != nil {
			return nil, err
		}
		return &http.Response{StatusCode: 200, ContentLength: -1, Request: r, Body: newSlowReader(r.Context(), chunks, overall/time.Duration(chunks))}, nil
	}
}

// slowReader is a body that flows slowly. A Read under way ends with the request's context, and by Close.
type slowReader struct {
	ctx   context.Context
	close context.CancelFunc
	left  int
	pace  time.Duration
}

func newSlowReader(ctx context.Context, chunks int, pace time.Duration) *slowReader {
	b := &slowReader{left: chunks, pace: pace}
	b.ctx, b.close = context.WithCancel(ctx)
	return b
}

func (b *slowReader) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	if err := sleep(b.ctx, b.pace); err != nil {
		return 0, err
	}
	b.left--
	return copy(p, "chunk"), nil
}

func (b *slowReader) Close() error { b.close(); return nil }

func TestCTX08AttemptTimeoutNeverCutsABody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cl, _ := client(t, slowBody(200*time.Millisecond, 2*time.Second, 64), WithAttemptTimeout(300*time.Millisecond))
		var wg sync.WaitGroup
		for range 200 {
			wg.Go(func() {
				_, body, err := get(cl, api)
				assert.NoError(t, err)
				assert.Len(t, body, 64*len("chunk"))
			})
		}
		wg.Wait()
	})
}

// The headers come in the very moment in which the timeout is over: whichever wins, the caller has a whole body or a clean error.
func TestCTX08AttemptTimeoutInTheMomentOfTheHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cl, _ := client(t, slowBody(300*time.Millisecond, 2*time.Second, 8), WithAttemptTimeout(300*time.Millisecond), WithMaxAttempts(1))
		var wg sync.WaitGroup
		for range 2000 {
			wg.Go(func() {
				_, body, err := get(cl, api)
				if err != nil {
					assert.ErrorIs(t, err, ErrAttemptTimeout)
					return
				}
				assert.Len(t, body, 8*len("chunk"))
			})
		}
		wg.Wait()
	})
}

func TestAttemptTimeoutOverRealConnections(t *testing.T) {
	s := listen(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if n == 1 {
			<-r.Context().Done() // no headers until the client has gone
			return
		}
		w.Write(make([]byte, mib))
	})
	cl, _ := client(t, s.base, quick(), WithAttemptTimeout(200*time.Millisecond))
	resp, body, err := get(cl, s.URL)
	require.NoError(t, err)
	assert.Len(t, body, mib)
	r, _ := ResultOf(resp)
	assert.GreaterOrEqual(t, r.Attempts, 2)
}

func TestAttemptTimeoutIsATimeoutAndTheCallersOwnEndIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(func(int, *http.Request) reply { return reply{after: time.Hour} })
		cl, tr := client(t, s, WithAttemptTimeout(time.Minute), WithMaxAttempts(1))
		_, _, err := get(cl, api)
		require.ErrorIs(t, err, ErrAttemptTimeout)
		require.NotErrorIs(t, err, context.DeadlineExceeded)
		var timeout net.Error
		require.ErrorAs(t, err, &timeout)
		assert.True(t, timeout.Timeout())
		assert.ErrorContains(t, err, "attempt timeout")

		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err = tr.RoundTrip(newRequest(t).WithContext(ctx))
		assert.ErrorIs(t, err, context.Canceled)
	})
}

// A deadline that comes while a call waits for what has no time, such as a slot, still says what it was waiting for.
func TestDeadlineInTheQueueSaysWhatWasWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(func(int, *http.Request) reply { return reply{after: time.Hour} })
		cl, _ := client(t, s, WithMaxInFlight(1))
		done := make(chan struct{})
		go func() { defer close(done); get(cl, api) }()
		synctest.Wait()
		_, _, err := do(cl, within(t, time.Second), http.MethodGet, api, "")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		var limit *LimitError
		require.ErrorAs(t, err, &limit)
		assert.Equal(t, CauseInFlight, limit.Cause)
		<-done
	})
}
