package throttle

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// events is a base whose answers are streams of so many events, one each pace, in virtual time.
type events struct {
	count int
	pace  time.Duration
	fail  error // after the last event, instead of an end

	mu         sync.Mutex
	open, most int
	hits       int
}

func (e *events) RoundTrip(r *http.Request) (*http.Response, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hits++
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, ContentLength: -1, Request: r}
	if r.Method == http.MethodHead {
		resp.Body = http.NoBody
		return resp, nil
	}
	e.open++
	e.most = max(e.most, e.open)
	resp.Body = &eventBody{e: e, left: e.count, ctx: r.Context()}
	return resp, nil
}

func (e *events) counts() (open, most int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.open, e.most
}

type eventBody struct {
	e    *events
	left int
	ctx  context.Context
	once sync.Once
}

func (b *eventBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		b.gone()
		if b.e.fail != nil {
			return 0, b.e.fail
		}
		return 0, io.EOF
	}
	if err := sleep(b.ctx, b.e.pace); err != nil {
		b.gone()
		return 0, err
	}
	b.left--
	return copy(p, "data: x\n\n"), nil
}

func (b *eventBody) Close() error { b.gone(); return nil }

func (b *eventBody) gone() {
	b.once.Do(func() {
		b.e.mu.Lock()
		b.e.open--
		b.e.mu.Unlock()
	})
}

func TestSTR02SlotIsHeldToTheEndOfTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &events{count: 5, pace: 200 * time.Millisecond}
		cl, tr := client(t, e, WithMaxInFlight(2))
		start := time.Now()
		flood(t, cl, 6, api)
		assert.Equal(t, 3*time.Second, time.Since(start), "two at a time, a second each, and the next starts at once")
		open, most := e.counts()
		assert.Zero(t, open)
		assert.Equal(t, 2, most)
		s, _ := tr.State("api.example")
		assert.Zero(t, s.InFlight)
	})
}

// takeBoth opens as many streams as there are slots, and shows that a third waits until give gives one back.
func takeBoth(t *testing.T, ctx context.Context, give func(resp *http.Response)) {
	t.Helper()
	e := &events{count: 1000, pace: time.Second}
	cl, tr := client(t, e, WithMaxInFlight(2))
	var held [2]*http.Response
	for i := range held {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, api, nil)
		require.NoError(t, err)
		held[i], err = cl.Do(req)
		require.NoError(t, err)
		_, err = held[i].Body.Read(make([]byte, 100)) // the first event
		require.NoError(t, err)
	}
	third := make(chan time.Time, 1)
	go func() {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, api, nil)
		resp, err := cl.Do(req)
		third <- time.Now()
		if assert.NoError(t, err) {
			resp.Body.Close()
		}
	}()
	time.Sleep(5 * time.Minute)
	s, _ := tr.State("api.example")
	assert.Equal(t, 2, s.InFlight)
	assert.Equal(t, 1, s.Waiting)
	assert.Greater(t, s.OldestInFlight, 5*time.Minute, "streams last for minutes")
	given := time.Now()
	give(held[0])
	assert.Equal(t, given, <-third)
	for _, resp := range held {
		resp.Body.Close()
	}
	synctest.Wait()
	s, _ = tr.State("api.example")
	assert.Zero(t, s.InFlight)
}

func TestSTR02SlotComesBackByClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		takeBoth(t, t.Context(), func(resp *http.Response) {
			resp.Body.Close()
		})
	})
}

func TestSTR02SlotComesBackOnceForManyCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		takeBoth(t, t.Context(), func(resp *http.Response) {
			var wg sync.WaitGroup
			for range 50 {
				wg.Go(func() { resp.Body.Close() })
			}
			wg.Wait()
		})
	})
}

func TestSTR02SlotComesBackByTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		takeBoth(t, ctx, func(*http.Response) { cancel() }) // nobody reads, nobody closes
	})
}

func TestSTR02AnswersWithoutABodyHoldNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &events{}
		cl, _ := client(t, e, WithMaxInFlight(2))
		for range 10 {
			_, err := cl.Head(api) //nolint:bodyclose // that is the point
			require.NoError(t, err)
		}
		s := newServer(func(n int, _ *http.Request) reply { return reply{status: []int{204, 304}[n%2]} })
		cl, _ = client(t, s, WithMaxInFlight(2))
		for range 10 {
			_, err := cl.Get(api) //nolint:bodyclose // that is the point
			require.NoError(t, err)
		}
	})
}

func TestSTR03StreamThatBreaksIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("connection reset")
		e := &events{count: 3, pace: time.Second, fail: broken}
		var kinds []Kind
		cl, tr := client(t, e, WithMaxInFlight(1), WithObserver(ObserverFunc(func(_ context.Context, e Event) { kinds = append(kinds, e.Kind) })))
		resp, body, err := get(cl, api)
		require.ErrorIs(t, err, broken)
		assert.Equal(t, "data: x\n\ndata: x\n\ndata: x\n\n", body)
		assert.Equal(t, 1, e.hits)
		r, _ := ResultOf(resp)
		assert.Equal(t, 1, r.Attempts)
		s, _ := tr.State("api.example")
		assert.Zero(t, s.InFlight)
		assert.True(t, s.Hold.IsZero())
		assert.NotContains(t, kinds, KindHold)
	})
}

func TestStreamIsNeitherPeekedNorChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &events{count: 3, pace: time.Minute}
		cl, _ := client(t, e, WithVerdict(func(_ *http.Response, peek func() []byte) Verdict {
			assert.Nil(t, peek)
			return ByDefault
		}))
		start := time.Now()
		resp, err := cl.Get(api)
		require.NoError(t, err)
		assert.Zero(t, time.Since(start))
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Equal(t, "data: x\n\ndata: x\n\ndata: x\n\n", string(body))
		assert.Equal(t, 3*time.Minute, time.Since(start))
	})
}

// A base that does not tell the length of its answers leaves ContentLength at 0: that is no proof that there is no body.
func TestBodyOfUntoldLengthHoldsItsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := roundTripper(func(r *http.Request) (*http.Response, error) {
			body, w := io.Pipe()
			go func() { io.WriteString(w, "text"); w.Close() }()
			return &http.Response{StatusCode: http.StatusOK, Body: body, Request: r}, nil
		})
		cl, tr := client(t, base, WithMaxInFlight(1), WithAttemptTimeout(time.Second))
		resp, err := cl.Get(api)
		require.NoError(t, err)
		s, _ := tr.State("api.example")
		assert.Equal(t, 1, s.InFlight)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Equal(t, "text", string(body))
	})
}

// roundTripper is a function as a base.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

var _ net.Error = (*LimitError)(nil)
