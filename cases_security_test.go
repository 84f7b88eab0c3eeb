package throttle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
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

// What http.Client adds outside of the transport, a *url.Error with the whole URL, is not ours to redact: so the transport is called itself.
func TestSEC01NoSecretLeavesTheTransport(t *testing.T) {
	secrets := []string{"PW1", "PW2", "PW3", "PW4"}
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		var mu sync.Mutex
		note := func(v ...any) {
			mu.Lock()
			defer mu.Unlock()
			fmt.Fprintf(&out, "%+v\n", v)
		}
		s := newServer(func(n int, r *http.Request) reply {
			switch n {
			case 2:
				return reply{status: 429, header: fields("Retry-After", "1")}
			case 4:
				return reply{err: &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("refused")}}
			case 5:
				return reply{after: time.Hour}
			}
			return reply{}
		})
		var log bytes.Buffer
		_, tr := client(t, s, WithKey(ByHostAndCredential), WithPolicies(spaced(0.5)), WithMaxQueue(1),
			WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))),
			WithObserver(ObserverFunc(func(_ context.Context, e Event) { note(e) })))
		send := func() {
			req, err := http.NewRequestWithContext(within(t, time.Minute), http.MethodGet, "https://user:PW1@h.example/p?api_key=PW2", nil)
			require.NoError(t, err)
			req.Header.Set("Authorization", "Bearer PW3")
			req.Header.Set("X-Api-Key", "PW4")
			resp, err := tr.RoundTrip(req)
			note(err)
			if err == nil {
				r, _ := ResultOf(resp)
				note(r)
				resp.Body.Close()
			}
		}
		send()
		send()
		send()
		var wg sync.WaitGroup
		for range 3 { // one waits for a minute in vain, one waits, one finds the queue full
			wg.Go(send)
		}
		wg.Wait()
		tr.Hold("h.example#x", time.Second)
		dump, err := json.Marshal(tr.Snapshot())
		require.NoError(t, err)
		all := out.String() + log.String() + string(dump)
		assert.Contains(t, all, "h.example#", "the key tells credentials apart")
		assert.Contains(t, all, "the queue is full")
		for _, s := range secrets {
			assert.NotContains(t, all, s)
		}
	})
}

func TestCredentialKeysAreStableAndApart(t *testing.T) {
	key := func(prepare func(*http.Request)) string {
		req, err := http.NewRequest(http.MethodGet, "https://api.example/?q=1", nil)
		require.NoError(t, err)
		prepare(req)
		return ByHostAndCredential(req)
	}
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	jwt := func(claims string) string {
		return "Bearer e30." + b64(claims) + ".c2ln"
	}
	assert.Equal(t, "api.example", key(func(*http.Request) {}))
	for name, same := range map[string][2]string{
		"AWS4":   {"AWS4-HMAC-SHA256 Credential=AKID/20260101/r/s/aws4_request, Signature=1", "AWS4-HMAC-SHA256 Credential=AKID/20260102/r/s/aws4_request, Signature=2"},
		"digest": {`Digest username="u", nonce="1"`, `Digest username="u", nonce="2"`},
		"OAuth":  {`OAuth oauth_consumer_key="k", oauth_token="t", oauth_nonce="1"`, `OAuth oauth_consumer_key="k", oauth_token="t", oauth_nonce="2"`},
		"JWT":    {jwt(`{"iss":"i","sub":"s","exp":1}`), jwt(`{"iss":"i","sub":"s","exp":2}`)},
	} {
		assert.Equal(t, key(header("Authorization", same[0])), key(header("Authorization", same[1])), name)
	}
	apart := []func(*http.Request){
		header("Authorization", "Bearer a"), header("Authorization", "Bearer b"), header("Authorization", "Basic dTpw"),
		header("Authorization", jwt(`{"iss":"i","sub":"s"}`)), header("Authorization", jwt(`{"iss":"i","sub":"other"}`)),
		header("Authorization", `Digest username="u"`), header("Authorization", `Digest username="v"`),
		header("X-Api-Key", "k1"), header("X-Api-Key", "k2"),
		func(r *http.Request) { r.URL.RawQuery = "api_key=q1" }, func(r *http.Request) { r.URL.RawQuery = "api_key=q2" },
		func(r *http.Request) { r.URL.User = nil; r.SetBasicAuth("u", "p2") },
	}
	seen := map[string]int{}
	for i, prepare := range apart {
		k := key(prepare)
		if j, ok := seen[k]; ok {
			t.Errorf("credentials %d and %d share the key %s", i, j, k)
		}
		seen[k] = i
	}
}

func TestSEC02HostileServerHarmsOnlyItself(t *testing.T) {
	junk := strings.Repeat("1;", 500_000)
	for name, hold := range map[string]map[string]string{
		"seconds": fields("Retry-After", "999999"),
		"date":    fields("Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT"),
		"junk":    fields("Retry-After", "999999", "RateLimit", junk, "RateLimit-Policy", junk, "X-RateLimit-Reset", junk),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				base := newServer(nil)
				base.reply = func(_ int, r *http.Request) reply {
					if r.URL.Host == "evil.example" && time.Since(base.start) < time.Hour {
						return reply{status: 429, header: hold}
					}
					return reply{}
				}
				c, tr := client(t, base)
				resp, _, err := get(c, "http://evil.example/")
				require.NoError(t, err)
				r, _ := ResultOf(resp)
				if name != "date" { // a moment in 8,000 years is absurd, and so absent
					assert.Equal(t, HoldTooLong, r.Stop)
					before := time.Now()
					_, _, err = get(c, "http://evil.example/")
					require.ErrorIs(t, err, ErrMaxHold)
					assert.Equal(t, before, time.Now())
				}
				before := time.Now()
				flood(t, c, 10, "http://good.example/")
				assert.Equal(t, before, time.Now())
				time.Sleep(maxClosed)
				resp, _, err = get(c, "http://evil.example/")
				require.NoError(t, err)
				assert.Equal(t, 200, resp.StatusCode, "after a day it is asked again")
				tr.Resume("evil.example")
			})
		})
	}
}

// Keys may be anything: each is one quota, and none reaches into another's.
func TestSEC04KeysDoNotCollide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		c, tr := client(t, s, WithPolicies(budget.PerHour(1)))
		keys := []string{"a{b}", "a", "x:y", "x", "x:y:", strings.Repeat("k", 10_000), "ключ", "k\x00", "k", " ", "#"}
		for _, key := range keys {
			_, _, err := do(c, NewContext(t.Context(), Call{Key: key, MaxWait: NoWait}), http.MethodGet, api, "")
			require.NoError(t, err)
		}
		states := tr.Snapshot()
		assert.Len(t, states, len(keys))
		for _, state := range states {
			assert.EqualValues(t, 1, state.Budgets[0].Used)
		}
	})
}
