package throttle

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

func request(t testing.TB, methodAndURL string) *http.Request {
	t.Helper()
	method, url, _ := strings.Cut(methodAndURL, " ")
	req, err := http.NewRequest(method, url, nil)
	require.NoError(t, err)
	return req
}

func TestRoutesMatch(t *testing.T) {
	for pattern, c := range map[string]struct{ yes, no []string }{
		"/": {
			[]string{"GET http://a.example", "GET http://a.example/", "POST http://b.example/x/y/"}, nil},
		"/v1/items": {
			[]string{"GET http://a.example/v1/items", "PUT http://a.example/v1/items?x=/y"},
			[]string{"GET http://a.example/v1/items/", "GET http://a.example/v1/items/3", "GET http://a.example/v1", "GET http://a.example/v1/itemsx", "GET http://a.example/x/v1/items"}},
		"/v1/": {
			[]string{"GET http://a.example/v1/", "GET http://a.example/v1", "GET http://a.example/v1/items/3"},
			[]string{"GET http://a.example/v10", "GET http://a.example/", "GET http://a.example/V1/"}},
		"GET,HEAD /v1/": {
			[]string{"GET http://a.example/v1/x", "HEAD http://a.example/v1/x"}, []string{"POST http://a.example/v1/x"}},
		"API.example.com/v1/": {
			[]string{"GET https://api.example.com/v1/x", "GET https://API.example.com:443/v1/x", "GET https://api.example.com./v1/x"},
			[]string{"GET https://api.example.com:8443/v1/x", "GET https://www.example.com/v1/x"}},
		"BÜCHER.example.:443/": {
			[]string{"GET https://bücher.example/x", "GET https://xn--bcher-kva.example"}, []string{"GET https://bucher.example/"}},
		"LOCALHOST/v1/": {
			[]string{"GET http://localhost/v1/x"}, []string{"GET http://localhost:8080/v1/x"}},
		"payments./v1/": {
			[]string{"GET http://payments/v1/x", "GET http://payments./v1/x"}, []string{"GET http://billing/v1/x"}},
		"payments:8080/": {
			[]string{"GET http://payments:8080/v1/x"}, []string{"GET http://payments/v1/x"}},
		"127.0.0.1:80/": {
			[]string{"GET http://127.0.0.1/x"}, []string{"GET http://127.0.0.1:81/x"}},
		"PURGE /v1/": {
			[]string{"PURGE http://a.example/v1/x"}, []string{"GET http://a.example/v1/x"}},
		"POST api.example.com/repos/{owner}/{repo}/issues": {
			[]string{"POST https://api.example.com/repos/golang/go/issues"},
			[]string{"POST https://api.example.com/repos/golang/issues", "POST https://api.example.com/repos//go/issues", "POST https://api.example.com/repos/golang/go/issues/1"}},
		"/projects/{id}/issues/": {
			[]string{"GET http://a.example/projects/group%2Fname/issues/3", "GET http://a.example/projects/7/issues"},
			[]string{"GET http://a.example/projects/group/name/issues"}},
		"/caf\u00e9/a~b": {
			[]string{"GET http://a.example/caf%C3%A9/a%7Eb", "GET http://a.example/caf\u00e9/a~b"}, []string{"GET http://a.example/caf%C3%A9/a%7E"}},
	} {
		r, err := parseRoute(pattern)
		require.NoError(t, err, pattern)
		rs := routes{r}
		for _, yes := range c.yes {
			s := rs.set(request(t, yes))
			assert.True(t, s.has(0), "%q and %s", pattern, yes)
			assert.Zero(t, rs.first(request(t, yes)))
		}
		for _, no := range c.no {
			assert.Zero(t, rs.set(request(t, no)), "%q and %s", pattern, no)
			assert.Equal(t, -1, rs.first(request(t, no)))
		}
	}
}

func TestRoutesWithoutARequest(t *testing.T) {
	r, err := parseRoute("/")
	require.NoError(t, err)
	assert.Zero(t, routes{r}.set(nil))
	assert.Zero(t, routes{r}.set(&http.Request{}))
	assert.Equal(t, -1, routes{r}.first(nil))
	assert.Equal(t, http.MethodGet, methodOf(&http.Request{}))
}

func TestPatternsThatMakeNoSenseAreRefused(t *testing.T) {
	for pattern, says := range map[string]string{
		"":                        "begins with /",
		"GET":                     "begins with /",
		"api.example.com":         "begins with /",
		"get /x":                  "in capitals",
		"GET,,PUT /x":             "in capitals",
		"/x /y":                   "in capitals",
		"GET /x /y":               "no blank",
		"/x?y=1":                  "no blank, ? or #",
		"/a//b":                   "empty segment",
		"/a/pre{id}":              "whole segment",
		"/a/{id}.json/b":          "whole segment",
		"POST /{a}/b}":            "whole segment",
		"GET  a.example/x#anchor": "no blank, ? or #",
		"GET v1/x":                `"v1" a host? A path begins with /`,
		"v1/x":                    `"v1."`,
		"*.example.com/x":         "no wildcards",
		"{tenant}.example/x":      "no wildcards",
		"https://api.x/v1":        `write "api.x/v1"`,
		"GET http://api.x":        `write "api.x"`,
	} {
		_, err := NewTransport(nil, WithRoute(pattern, budget.PerMinute(1)))
		assert.ErrorContains(t, err, says, "%q", pattern)
		assert.Panics(t, func() { ByRoute(pattern) }, "%q", pattern)
	}
	_, err := NewTransport(nil, WithRoute("/x"))
	assert.ErrorContains(t, err, "no policy")
	many := make([]Option, maxRoutes+1)
	for i := range many {
		many[i] = WithRoute("/"+itoa(i), budget.PerMinute(1))
	}
	_, err = NewTransport(nil, many...)
	assert.ErrorContains(t, err, "more than 256 routes")
	_, err = NewTransport(nil, many[1:]...)
	assert.NoError(t, err)
}

// Every route that matches applies, and adds to the policies of the key; all are taken together.
func TestEveryMatchingRouteApplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tr := client(t, newServer(always),
			WithPolicies(named("key", budget.PerMinute(100))),
			WithRoute("/v1/", named("v1", budget.PerMinute(50))),
			WithRoute("POST /v1/chat/", named("chat", budget.PerMinute(20))),
			WithRoute("other.example/", named("other", budget.PerMinute(10))))
		flood(t, c, 3, "http://a.example/")
		flood(t, c, 4, "http://a.example/v1/x")
		for range 5 {
			_, _, err := do(c, t.Context(), http.MethodPost, "http://a.example/v1/chat/completions", "{}")
			require.NoError(t, err)
		}
		left := map[string]float64{}
		for _, name := range []string{"key", "v1", "chat"} {
			left[name] = budgetOf(t, tr, "a.example", name).Available
		}
		assert.Equal(t, map[string]float64{"key": 88, "v1": 41, "chat": 15}, left)
		s, _ := tr.State("a.example")
		assert.Len(t, s.Budgets, 3, "the route of another host makes no budget here")
	})
}

// Budgets without a name are told apart by their routes, also in a store.
func TestBudgetsAreCalledByTheirRoutes(t *testing.T) {
	for _, opt := range []Option{Options(), WithStore(&memory{laws: map[string]budget.Budget{}})} {
		synctest.Test(t, func(t *testing.T) {
			c, tr := client(t, newServer(always), opt, WithPolicies(budget.PerMinute(100)),
				WithRoute("/v1/", budget.PerMinute(50)), WithRoute("GET /v1/", named("reads", budget.PerMinute(40))))
			flood(t, c, 1, "http://a.example/v1/x")
			state, _ := tr.State("a.example")
			names := map[string]float64{}
			for _, b := range state.Budgets {
				names[b.Name] = b.Limit
			}
			assert.Equal(t, map[string]float64{"": 100, "/v1/": 50, "reads": 40}, names)
		})
	}
}

// Routes that name the same budget draw on one; SetPolicies leaves the budgets of routes alone.
func TestRoutesShareABudgetByName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		writes := named("writes", budget.PerMinute(10))
		c, tr := client(t, newServer(always), WithRoute("POST /a/", writes), WithRoute("POST /b/", writes), WithRoute("POST /", writes))
		for _, path := range []string{"a", "b", "c"} {
			for range 3 {
				_, _, err := do(c, t.Context(), http.MethodPost, "http://x.example/"+path+"/", "")
				require.NoError(t, err)
			}
		}
		assert.Equal(t, 1.0, budgetOf(t, tr, "x.example", "writes").Available, "once each, though two routes match")
		require.NoError(t, tr.SetPolicies(named("key", budget.PerMinute(100)), writes))
		assert.Equal(t, 1.0, budgetOf(t, tr, "x.example", "writes").Available)
		flood(t, c, 1, "http://x.example/a/")
		assert.Equal(t, 99.0, budgetOf(t, tr, "x.example", "key").Available)
		assert.Zero(t, budgetOf(t, tr, "x.example", "writes").Available, "it belongs to the key now, so reads draw on it too")
		flood(t, c, 1, "http://x.example/c/")
		assert.GreaterOrEqual(t, time.Since(epoch), time.Minute)
	})
}

// A pool of its own: its calls neither count for the host nor wait with it.
func TestByRouteMakesPoolsOfTheirOwn(t *testing.T) {
	key := ByRoute("GET /search/", "/login")
	assert.Equal(t, "api.example GET /search/", key(request(t, "GET http://API.example/search/code?q=secret")))
	assert.Equal(t, "api.example /login", key(request(t, "POST http://api.example/login")))
	assert.Equal(t, "api.example", key(request(t, "POST http://api.example/search/code")))
	synctest.Test(t, func(t *testing.T) {
		c, tr := client(t, newServer(always), WithKey(key), WithPolicies(budget.PerMinute(2)))
		flood(t, c, 2, "http://api.example/search/x")
		flood(t, c, 2, "http://api.example/other")
		assert.Less(t, time.Since(epoch), time.Second)
		assert.Len(t, tr.Snapshot(), 2)
	})
}

// CON-04: each credential has a quota of its own, and the secret shows nowhere.
func TestCredentialsHaveQuotasOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tr := client(t, newServer(always), WithKey(ByHostAndCredential), WithPolicies(budget.PerMinute(3)))
		for _, secret := range []string{"Bearer sk-one", "Bearer sk-two", ""} {
			for range 3 {
				req := request(t, "GET "+api)
				if secret != "" {
					req.Header.Set("Authorization", secret)
				}
				resp, err := c.Do(req)
				require.NoError(t, err)
				resp.Body.Close()
			}
		}
		assert.Less(t, time.Since(epoch), time.Second)
		all := tr.Snapshot()
		require.Len(t, all, 3)
		for _, s := range all {
			assert.NotContains(t, s.Key, "sk-")
			assert.True(t, strings.HasPrefix(s.Key, "api.example"))
			assert.Zero(t, s.Budgets[0].Available)
		}
	})
}
