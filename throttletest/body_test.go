package throttletest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// get sends a request whose body is left to the test.
func get(t *testing.T, ctx context.Context, rt http.RoundTripper) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://api.example/", nil)
	require.NoError(t, err)
	resp, err := rt.RoundTrip(r)
	require.NoError(t, err)
	return resp
}

func faulty(f Fault, opts ...Option) *Upstream {
	return NewUpstream(append(opts, WithFaults(FirstCalls(1, f)))...)
}

func TestASlowBodyComesInItsOwnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := faulty(Fault{Body: make([]byte, 2*dripSize), Drip: time.Second}, WithLatency(Latency{Network: 100 * time.Millisecond}))
		begun := time.Now()
		resp := get(t, t.Context(), u)
		assert.Equal(t, 200*time.Millisecond, time.Since(begun), "the header is not slow")
		buf := make([]byte, 500)
		n, err := resp.Body.Read(buf)
		require.NoError(t, err)
		assert.Equal(t, dripSize, n)
		assert.Equal(t, 1200*time.Millisecond, time.Since(begun))
		time.Sleep(time.Hour)
		before := time.Now()
		n, err = resp.Body.Read(buf)
		require.NoError(t, err)
		assert.Equal(t, dripSize, n)
		assert.Zero(t, time.Since(before), "what came while nobody read is there")
		_, err = resp.Body.Read(buf)
		assert.Equal(t, io.EOF, err)
		require.NoError(t, resp.Body.Close())
	})
}

func TestTheSlotIsHeldUntilTheStreamEndsAtTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := faulty(Fault{Body: make([]byte, 3*dripSize), Drip: time.Second},
			WithLatency(Latency{Network: 100 * time.Millisecond}), WithLimits(Concurrency(1)))
		resp := get(t, t.Context(), u)
		time.Sleep(2800*time.Millisecond - 1) // it ends 2.9 s from here at the server, and 0.1 s is the way there
		assert.Equal(t, 429, closed(get(t, t.Context(), u)))
		time.Sleep(time.Second)
		assert.Equal(t, 200, closed(get(t, t.Context(), u)), "though nobody has read the first")
		require.NoError(t, resp.Body.Close())
	})
}

func closed(resp *http.Response) int {
	resp.Body.Close()
	return resp.StatusCode
}

func TestClosingAStreamFreesItsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := faulty(Fault{Pad: -1, Drip: time.Second}, WithLimits(Concurrency(1)))
		resp := get(t, t.Context(), u)
		assert.Equal(t, int64(-1), resp.ContentLength)
		time.Sleep(time.Hour)
		assert.Equal(t, 1, u.Stats().Open)
		require.NoError(t, resp.Body.Close())
		assert.Zero(t, u.Stats().Open)
		_, err := resp.Body.Read(make([]byte, 1))
		assert.ErrorIs(t, err, http.ErrBodyReadAfterClose)
		require.NoError(t, resp.Body.Close(), "twice is fine")
	})
}

func TestCloseFreesAReadThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		resp := get(t, t.Context(), faulty(Fault{Drip: time.Hour}))
		time.AfterFunc(time.Second, func() { resp.Body.Close() })
		begun := time.Now()
		_, err := io.ReadAll(resp.Body)
		assert.ErrorIs(t, err, http.ErrBodyReadAfterClose)
		assert.Equal(t, time.Second, time.Since(begun))
	})
}

func TestTheContextEndsABody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 90*time.Second, cause)
		defer cancel()
		u := faulty(Fault{Pad: -1, Drip: time.Minute})
		resp := get(t, ctx, u)
		begun := time.Now()
		_, err := io.ReadAll(resp.Body)
		assert.ErrorIs(t, err, cause)
		assert.Equal(t, 90*time.Second, time.Since(begun))
		assert.Zero(t, u.Stats().Open)
	})
}

func TestATornBodyEndsTooSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		resp := get(t, t.Context(), faulty(Fault{Body: []byte("0123456789"), Torn: true, After: 4}))
		assert.Equal(t, int64(10), resp.ContentLength)
		b, err := io.ReadAll(resp.Body)
		assert.Equal(t, "0123", string(b))
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
		_, again := resp.Body.Read(make([]byte, 1))
		assert.Equal(t, err, again, "and stays so")
		require.NoError(t, resp.Body.Close())
	})
}

// TestReadsOfAnySizeGiveTheSameBytes reads a body that drips in pieces of every size.
func TestReadsOfAnySizeGiveTheSameBytes(t *testing.T) {
	text := []byte(strings.Repeat("0123456789", 30))
	for size := 1; size < 400; size += 37 {
		synctest.Test(t, func(t *testing.T) {
			resp := get(t, t.Context(), faulty(Fault{Body: text, Drip: time.Second, Pad: 5}))
			var got []byte
			var err error
			for buf := make([]byte, size); err == nil; {
				var n int
				n, err = resp.Body.Read(buf)
				assert.LessOrEqual(t, n, size)
				got = append(got, buf[:n]...)
				none, e := resp.Body.Read(nil)
				assert.Zero(t, none)
				assert.NoError(t, e)
			}
			assert.Equal(t, io.EOF, err)
			assert.Equal(t, string(text)+"     ", string(got))
			require.NoError(t, resp.Body.Close())
		})
	}
}

func TestManyCallersAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := NewUpstream(WithLimits(Concurrency(20), FixedWindow(150, time.Hour)), WithCharge(ChargeSettled),
			WithLatency(Latency{Network: time.Millisecond, Jitter: Exponential(5 * time.Millisecond), Service: LogNormal(50*time.Millisecond, 0.5), PerToken: time.Millisecond}))
		var wg sync.WaitGroup
		for i := range 40 {
			wg.Go(func() {
				for range 10 {
					ask := hello + `}`
					if i%2 == 0 {
						ask = hello + `,"stream":true}`
					}
					resp, err := u.RoundTrip(request(ask, ClientHeader, fmt.Sprint(i)))
					if assert.NoError(t, err) {
						_, err = io.Copy(io.Discard, resp.Body)
						assert.NoError(t, err)
						resp.Body.Close()
					}
				}
			})
		}
		wg.Wait()
		s := u.Stats()
		assert.Equal(t, 400, s.Arrivals)
		assert.Equal(t, 150, s.Admitted)
		assert.Equal(t, 20, s.PeakOpen)
		assert.Zero(t, s.Open)
		assert.Len(t, s.Clients, 40)
	})
}

func TestACallIsSettledWhenItsAnswerHasLeft(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		soon float64 // left when the header is there
	}{
		"at once":  {`{}`, 60},
		"a stream": {`{"stream":true}`, 100},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := NewUpstream(WithCharge(ChargeUsed), WithOutputTokens(40, 0), WithLimits(FixedWindow(100, time.Hour).Of("tokens")))
				left := func() float64 { return u.brain.pools[place{}].counters[0].law.state(time.Now()).left }
				resp, err := u.RoundTrip(request(c.body))
				require.NoError(t, err)
				assert.Equal(t, c.soon, left())
				_, err = io.ReadAll(resp.Body)
				require.NoError(t, err)
				assert.Equal(t, 60.0, left())
				require.NoError(t, resp.Body.Close())
				assert.Equal(t, 60.0, left(), "once")
			})
		})
	}
}
