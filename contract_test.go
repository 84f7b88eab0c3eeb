package throttle

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

// The obligations of an http.RoundTripper, as its documentation states them, and those that good ones have taken on beside.

func TestContractTheCallersRequestIsNotChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(script(reply{status: 429, header: map[string]string{"Retry-After": "1"}}, reply{status: 503}))
		_, tr := client(t, s, WithAttemptTimeout(time.Minute))
		req, err := http.NewRequest(http.MethodPut, api+"?q=1", strings.NewReader("payload"))
		require.NoError(t, err)
		req.Header.Set("X-Own", "value")
		before, url, header := *req, *req.URL, req.Header.Clone()
		resp, err := tr.RoundTrip(req)
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, 3, s.count())

		assert.Equal(t, url, *req.URL)
		assert.Equal(t, header, req.Header)
		after := *req
		assert.Equal(t, reflect.ValueOf(before.GetBody).Pointer(), reflect.ValueOf(after.GetBody).Pointer())
		before.GetBody, after.GetBody = nil, nil // functions cannot be compared
		assert.Equal(t, before, after)
		assert.Equal(t, before.Body, after.Body)
		assert.Equal(t, context.Background(), req.Context())
	})
}

func TestAPI02SharedRequestCanBeUsedByMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(func(n int, _ *http.Request) reply {
			if n%3 == 1 {
				return reply{status: 429, header: map[string]string{"Retry-After": "1"}}
			}
			return reply{}
		})
		cl, _ := client(t, s)
		req, err := http.NewRequest(http.MethodGet, api, nil)
		require.NoError(t, err)
		req.Header.Set("X-Own", "value")
		before := req.Header.Clone()
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				resp, err := cl.Do(req)
				if assert.NoError(t, err) {
					resp.Body.Close()
				}
			})
		}
		wg.Wait()
		assert.Equal(t, before, req.Header)
	})
}

func TestContractARefusalIsAResponseAndNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, status := range []int{400, 403, 404, 429, 500, 503, 529} {
			s := newServer(func(int, *http.Request) reply { return reply{status: status, body: "why"} })
			_, tr := client(t, s, WithMaxAttempts(2))
			req, err := http.NewRequest(http.MethodGet, api, nil)
			require.NoError(t, err)
			resp, err := tr.RoundTrip(req)
			require.NoError(t, err)
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.Equal(t, "why", string(body))
			assert.Equal(t, status, resp.StatusCode)
		}
	})
}

func TestContractRedirectsAreNotFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(script(reply{status: 503, header: map[string]string{"Retry-After": "1"}},
			reply{status: 302, header: map[string]string{"Location": "http://other.example/"}}))
		_, tr := client(t, s)
		req, err := http.NewRequest(http.MethodGet, api, nil)
		require.NoError(t, err)
		resp, err := tr.RoundTrip(req)
		require.NoError(t, err)
		assert.Equal(t, http.StatusFound, resp.StatusCode, "not even after a repetition")
		assert.Equal(t, 2, s.count())
	})
}

func TestContractCookiesAndAuthenticationAreLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(always)
		_, tr := client(t, s)
		req, err := http.NewRequest(http.MethodGet, "http://user:secret@api.example/", nil)
		require.NoError(t, err)
		_, err = tr.RoundTrip(req)
		require.NoError(t, err)
		assert.Empty(t, s.hits[0].req.Header)
	})
}

func TestContractABadRequestIsAnErrorAndItsBodyIsClosed(t *testing.T) {
	_, tr := client(t, newNoop())
	body := &tracked{Reader: strings.NewReader("x")}
	_, err := tr.RoundTrip(&http.Request{Method: http.MethodPost, Body: body})
	require.ErrorContains(t, err, "no URL")
	assert.Equal(t, 1, body.closes())
}

func TestContractAHandMadeRequestIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(script(reply{status: 500}))
		_, tr := client(t, s)
		req, err := http.NewRequest("", api, nil)
		require.NoError(t, err)
		_, err = tr.RoundTrip(&http.Request{URL: req.URL}) // no method, no header, no context
		require.NoError(t, err)
		assert.Equal(t, 2, s.count())
	})
}

func TestContractCloseIdleConnectionsReachesTheBase(t *testing.T) {
	base := &closer{}
	cl, _ := client(t, base)
	cl.CloseIdleConnections()
	assert.Equal(t, 1, base.closed)
	cl, _ = client(t, newNoop()) // a base that cannot
	cl.CloseIdleConnections()
}

type closer struct {
	noop
	closed int
}

func (c *closer) CloseIdleConnections() { c.closed++ }

func TestContractABaseThatReturnsNothingIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		_, tr := client(t, roundTripper(func(*http.Request) (*http.Response, error) { calls++; return nil, nil }), WithMaxInFlight(1))
		req, err := http.NewRequest(http.MethodGet, api, nil)
		require.NoError(t, err)
		for range 2 {
			_, err = tr.RoundTrip(req)
			require.ErrorContains(t, err, "neither a response nor an error")
		}
		assert.Equal(t, 2, calls)
	})
}

func TestContractABaseThatReturnsBothIsAnErrorAndTheBodyIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := &tracked{Reader: strings.NewReader("x")}
		_, tr := client(t, roundTripper(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: body}, errors.New("and an error")
		}), WithMaxAttempts(1))
		req, err := http.NewRequest(http.MethodGet, api, nil)
		require.NoError(t, err)
		resp, err := tr.RoundTrip(req)
		require.ErrorContains(t, err, "and an error")
		assert.Nil(t, resp)
		assert.Equal(t, 1, body.closes())
	})
}

func TestContractAResponseHasABodyAndItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stranger, err := http.NewRequest(http.MethodGet, "http://cache.example/", nil)
		require.NoError(t, err)
		for _, answered := range []*http.Request{nil, stranger} {
			_, tr := client(t, roundTripper(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Request: answered}, nil
			}))
			req, err := http.NewRequest(http.MethodGet, api, nil)
			require.NoError(t, err)
			resp, err := tr.RoundTrip(req)
			require.NoError(t, err)
			require.NotNil(t, resp.Body)
			assert.Equal(t, req.URL, resp.Request.URL)
			r, ok := ResultOf(resp)
			assert.True(t, ok)
			assert.Equal(t, 1, r.Attempts)
		}
	})
}

func TestContractErrorsAreWrappedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		s := newServer(func(int, *http.Request) reply { return reply{err: broken} })
		_, tr := client(t, s)
		req, err := http.NewRequest(http.MethodGet, api, nil)
		require.NoError(t, err)
		_, err = tr.RoundTrip(req)
		assert.Same(t, broken, err, "the base's own error is handed on as it is")

		_, tr = client(t, s, WithPolicies(budget.PerMinute(1)), WithMaxWait(NoWait), WithMaxAttempts(1))
		_, _ = tr.RoundTrip(req)
		_, err = tr.RoundTrip(req)
		assert.Equal(t, 1, strings.Count(err.Error(), "throttle:"))
	})
}

// nest is a transport in a transport in a transport.
func nest(t *testing.T, base http.RoundTripper) *http.Client {
	for range 3 {
		_, tr := client(t, base)
		base = tr
	}
	return &http.Client{Transport: base}
}

func TestContractNestedTransportsRetryOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(func(int, *http.Request) reply { return reply{status: 502} })
		resp, _, err := get(nest(t, s), api)
		require.NoError(t, err)
		assert.Equal(t, 502, resp.StatusCode)
		assert.Equal(t, defaultFailures, s.count())
		r, _ := ResultOf(resp)
		assert.Equal(t, defaultFailures, r.Attempts, "the record is that of the outermost one")

		s = newServer(func(int, *http.Request) reply {
			return reply{status: 429, header: map[string]string{"Retry-After": "1"}}
		})
		_, _, err = get(nest(t, s), api)
		require.NoError(t, err)
		assert.Equal(t, defaultRefusals, s.count())
	})
}

// An answer's request carries the record of its call. Whoever makes another call under that context makes a call of its own.
func TestContractACallUnderAnEndedCallIsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(func(n int, _ *http.Request) reply {
			if n == 2 {
				return reply{status: 502}
			}
			return reply{}
		})
		cl, _ := client(t, s)
		resp, _, err := get(cl, api)
		require.NoError(t, err)
		resp, _, err = do(cl, resp.Request.Context(), http.MethodGet, api, "")
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, resp.StatusCode, "it is repeated, as nobody outside does it")
	})
}
