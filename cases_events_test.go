package throttle

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

func b64(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

// recorder remembers events.
type recorder struct {
	mu     sync.Mutex
	events []Event
}

func (r *recorder) Observe(_ context.Context, e Event) {
	r.mu.Lock()
	r.events = append(r.events, e)
	r.mu.Unlock()
}

// of is the events of some kinds, in order.
func (r *recorder) of(kinds ...Kind) (found []Event) {
	for _, e := range r.events {
		for _, k := range kinds {
			if e.Kind == k {
				found = append(found, e)
			}
		}
	}
	return found
}

func TestOBS02OwnWaitsAreToldFromTheServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := fields("X-RateLimit-Limit", "1000", "X-RateLimit-Remaining", "900", "X-RateLimit-Reset", "3600")
		s := newServer(func(n int, _ *http.Request) reply {
			if n == 2 {
				return tooMany("Retry-After", "2", "X-RateLimit-Limit", "1000", "X-RateLimit-Remaining", "900", "X-RateLimit-Reset", "3600")
			}
			return reply{header: limits}
		})
		rec := &recorder{}
		c, tr := client(t, s, WithPolicies(named("pace", spaced(0.4))), WithObserver(rec)) // a token each 2.5 s
		flood(t, c, 1, api)
		time.Sleep(1500 * time.Millisecond)
		resp, _, err := get(c, api)
		require.NoError(t, err)
		r, _ := ResultOf(resp)
		assert.Equal(t, 2, r.Attempts)
		about(t, 2*time.Second, r.Held, "the server's")
		about(t, 3500*time.Millisecond, r.Held+r.Waited, "the server's and our own")
		assert.Zero(t, r.BackedOff)
		story := rec.of(KindWait, KindHold, KindRetry)
		require.Len(t, story, 5)
		for i, want := range []Event{
			{Kind: KindWait, Cause: CauseBudget, Budget: "pace", Duration: time.Second, Attempt: 1},
			{Kind: KindHold, Cause: CauseHold, Duration: 2 * time.Second, Attempt: 1, Status: 429},
			{Kind: KindRetry, Cause: CauseHold, Attempt: 1, Status: 429},
			{Kind: KindWait, Cause: CauseHold, Duration: 2 * time.Second, Attempt: 2},
			{Kind: KindWait, Cause: CauseBudget, Budget: "pace", Duration: 500 * time.Millisecond, Attempt: 2},
		} {
			got := story[i]
			assert.InDelta(t, want.Duration, got.Duration, float64(50*time.Millisecond), "%d", i)
			want.Key, want.Duration = "api.example", got.Duration
			assert.Equal(t, want, got)
		}

		tr.Hold("api.example", 2*time.Hour)
		_, _, err = get(c, api)
		assert.ErrorContains(t, err, "(hold): needs 2h0m0s, allowed 1h0m0s")
		_, _, err = do(c, NewContext(t.Context(), Call{MaxWait: NoWait}), http.MethodGet, api, "")
		assert.ErrorIs(t, err, ErrMaxHold)
	})
}

// A call that is short of one budget first and of another at the end has waited for the latter.
func TestAWaitNamesTheBudgetThatItEndedWith(t *testing.T) {
	rec := &recorder{}
	opts := []Option{WithPolicies(named("second", spaced(1)), named("minute", budget.PerMinute(2))), WithObserver(rec)}
	inBubble(t, opts, func(t *testing.T, tr *Transport) {
		take(t, tr, Call{})
		go take(t, tr, Call{Priority: 1})
		_, at := take(t, tr, Call{})
		assert.Equal(t, time.Minute, at)
		waits := rec.of(KindWait)
		require.Len(t, waits, 2)
		assert.Equal(t, "second", waits[0].Budget)
		assert.Equal(t, "minute", waits[1].Budget)
	})
}

func TestAWaitForASlotOfAllKeysIsToldAsOne(t *testing.T) {
	rec := &recorder{}
	inBubble(t, []Option{WithMaxInFlightTotal(1), WithObserver(rec)}, func(t *testing.T, tr *Transport) {
		p, _ := take(t, tr, Call{})
		time.AfterFunc(time.Second, p.Done)
		take(t, tr, Call{Key: "other"})
		waits := rec.of(KindWait)
		require.Len(t, waits, 1)
		assert.Equal(t, CauseInFlight, waits[0].Cause)
	})
}

// Outside of a bubble: there even a refusal at once takes some time.
func TestWhoIsRefusedAtOnceHasNotWaited(t *testing.T) {
	rec := &recorder{}
	c, _ := client(t, newServer(always), WithRoute("GET /", budget.PerMinute(1)), WithObserver(rec))
	flood(t, c, 1, api)
	var r Result
	_, _, err := do(c, NewContext(t.Context(), Call{MaxWait: NoWait, Result: &r}), http.MethodGet, api, "")
	require.ErrorIs(t, err, ErrMaxWait)
	assert.ErrorContains(t, err, "(budget GET /)")
	assert.Zero(t, r.Waited)
	assert.Empty(t, rec.of(KindWait))
	drops := rec.of(KindDrop)
	require.Len(t, drops, 1)
	assert.Equal(t, CauseBudget, drops[0].Cause)
	assert.Equal(t, "GET /", drops[0].Budget, "a budget without a name is called by its route")
}

// What a call has waited on hold is the server's, also if it is refused in the end.
func TestAHoldThatBecomesTooLongIsToldAsOne(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, tr *Transport) {
		tr.Hold("k", time.Minute)
		time.AfterFunc(10*time.Second, func() { tr.Hold("k", 2*time.Hour) })
		var r Result
		_, err := tr.Acquire(t.Context(), Call{Key: "k", Result: &r})
		require.ErrorIs(t, err, ErrMaxHold)
		assert.Equal(t, 10*time.Second, r.Held)
		assert.Zero(t, r.Waited)
	})
}

func TestEventsTellTheStoryOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(script(reply{status: 502}, tooMany("Retry-After", "5")))
		rec := &recorder{}
		c, _ := client(t, s, WithObserver(rec), WithPolicies(budget.PerSecond(1000))) // so that nothing is to be worked out from the refusal
		_, _, err := get(c, api)
		require.NoError(t, err)
		var story []string
		for _, e := range rec.events {
			story = append(story, e.Kind.String()+" "+itoa(e.Attempt)+" "+itoa(e.Status)+" "+e.Cause.String())
			assert.Equal(t, "api.example", e.Key)
		}
		assert.Equal(t, []string{"send 1 502 none", "retry 1 502 backoff", "send 2 429 none", "hold 2 429 hold", "retry 2 429 hold",
			"wait 3 0 hold", "send 3 200 none", "done 3 200 none"}, story)
	})
}

func TestOBS01LogIsNotFlooded(t *testing.T) {
	for name, logs := range map[string]bool{"by default": false, "with a logger": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				opts := []Option{WithPolicies(spaced(100))}
				if logs {
					opts = append(opts, WithLogger(slog.New(slog.NewTextHandler(&out, nil))))
				}
				previous := slog.Default()
				slog.SetDefault(slog.New(slog.NewTextHandler(&out, nil)))
				defer slog.SetDefault(previous)
				s := newServer(always)
				c, _ := client(t, s, opts...)
				var wg sync.WaitGroup
				for range 10_000 {
					wg.Go(func() { get(c, api) })
					time.Sleep(9700 * time.Microsecond) // a little too fast: the waits grow to seconds
				}
				wg.Wait()
				lines := strings.Count(out.String(), "\n")
				if !logs {
					assert.Zero(t, lines)
					return
				}
				assert.LessOrEqual(t, lines, 11)
				assert.Positive(t, lines)
			})
		})
	}
}

// Whoever closes a transport before a crowd has left it is told so once, not a thousand times.
func TestLogSumsUpWhoIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		o := newLogObserver(slog.New(slog.NewTextHandler(&out, nil)))
		for range 1000 {
			o.Observe(t.Context(), Event{Kind: KindDrop, Key: "a", Err: ErrClosed})
		}
		assert.Equal(t, 1, strings.Count(out.String(), "\n"))
		time.Sleep(logEvery)
		out.Reset()
		o.Observe(t.Context(), Event{Kind: KindDrop, Key: "a", Err: ErrClosed})
		assert.Contains(t, out.String(), "calls=1000")
	})
}

func TestLogSumsUpWhatItLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		o := newLogObserver(slog.New(slog.NewTextHandler(&out, nil)))
		wait := func(key string, d time.Duration) {
			o.Observe(t.Context(), Event{Kind: KindWait, Key: key, Duration: d})
		}
		wait("a", 999*time.Millisecond)
		assert.Empty(t, out.String())
		wait("a", time.Second)
		wait("a", 5*time.Second)
		wait("a", 2*time.Second)
		wait("b", 3*time.Second)
		assert.Equal(t, 2, strings.Count(out.String(), "\n"), "a key has its own lines")
		time.Sleep(logEvery)
		out.Reset()
		wait("a", time.Second)
		assert.Contains(t, out.String(), "calls=3")
		assert.Contains(t, out.String(), "longest=5s")
		for i := range 2 * logKeysMost {
			wait(itoa(i), time.Second)
		}
		assert.LessOrEqual(t, len(o.waits), logKeysMost)
		out.Reset()
		for _, e := range []Event{{Kind: KindHold}, {Kind: KindDrop}, {Kind: KindDegraded}, {Kind: KindForgotten}, {Kind: KindSend}, {Kind: KindDone}} {
			o.Observe(t.Context(), e)
		}
		assert.Equal(t, 4, strings.Count(out.String(), "\n"))
	})
}

// Events carry no path, no query and no credential, so that nothing made of them has more labels than there are keys.
func TestOBS03EventsHaveFewLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{}
		c, _ := client(t, newServer(always), WithObserver(rec), WithKey(func(r *http.Request) string { return r.URL.Path[1:2] }))
		for i := range 1000 {
			_, _, err := get(c, "http://api.example/"+string("abc"[i%3])+"/"+itoa(i)+"?q="+itoa(i))
			require.NoError(t, err)
		}
		labels := map[string]bool{}
		for _, e := range rec.events {
			labels[e.Kind.String()+e.Key+e.Budget+e.Cause.String()] = true
		}
		assert.LessOrEqual(t, len(labels), 3*4)
	})
}

func TestOBS05HeadersReachTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := fields("Retry-After", "7200", "X-RateLimit-Limit", "10", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "7200")
		for _, kind := range []string{"application/json", "text/event-stream"} {
			h["Content-Type"] = kind
			s := newServer(func(int, *http.Request) reply { return reply{status: 429, header: h} })
			c, _ := client(t, s)
			resp, _, err := get(c, api)
			require.NoError(t, err)
			_, _, err = get(c, api)
			var limit *LimitError
			require.ErrorAs(t, err, &limit)
			for k, v := range h {
				assert.Equal(t, v, resp.Header.Get(k))
				assert.Equal(t, v, limit.Header.Get(k))
			}
			assert.Equal(t, 1, s.count())
		}
	})
}

// What is written to a log or a file as JSON can be read by people and programs.
func TestEventsAsJSON(t *testing.T) {
	done := Event{Kind: KindDone, Key: "k", Status: 429, Attempt: 2, Result: Result{Key: "k", Attempts: 2, Waited: 1500 * time.Millisecond,
		Held: 30 * time.Second, Stop: HoldTooLong, Asked: 2 * time.Hour}}
	text, err := json.Marshal(done)
	require.NoError(t, err)
	assert.JSONEq(t, `{"kind":"done","key":"k","status":429,"attempt":2,
		"result":{"key":"k","attempts":2,"waited":1.5,"held":30,"backed_off":0,"stop":"hold too long","asked":7200}}`, string(text))
	text, err = json.Marshal(Event{Kind: KindDrop, Key: "k", Budget: "day", Cause: CauseBudget, Duration: time.Minute, Err: &LimitError{Key: "k", Err: ErrMaxWait}})
	require.NoError(t, err)
	assert.JSONEq(t, `{"kind":"drop","key":"k","budget":"day","cause":"budget","duration":60,"err":"throttle: k: the wait is longer than the max wait"}`, string(text))
	text, err = json.Marshal([]any{KindForgotten, CauseInFlight, SourceShared, Hopeless, NotIdempotent})
	require.NoError(t, err)
	assert.JSONEq(t, `["forgotten","in flight","shared","hopeless","not idempotent"]`, string(text))
}

func TestNamesOfEverything(t *testing.T) {
	for i := range len(stopNames) {
		text, err := Stop(i).MarshalText()
		require.NoError(t, err)
		assert.Equal(t, stopNames[i], string(text))
	}
	assert.Equal(t, "done", KindDone.String())
	assert.Equal(t, "backoff", CauseBackoff.String())
	assert.Equal(t, "shared", SourceShared.String())
	assert.Equal(t, "unknown", Stop(200).String())
	assert.Len(t, stopNames, int(Inadmissible)+1)
	assert.Len(t, kindNames, int(KindDone)+1)
	assert.Len(t, causeNames, int(CauseBackoff)+1)
}
