package throttle

import (
	"bytes"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/backoff"
	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
)

// optionEffects shows of each option that it does something: the same script with it and without must not look the same. What exactly it
// does is tested elsewhere.
var optionEffects = map[string]struct {
	option func(t *testing.T) Option
	script func(t *testing.T, with Option) any // what is to differ
}{
	"WithPolicies":   {just(WithPolicies(budget.PerMinute(1))), threeCalls(always)},
	"WithPolicyFunc": {just(WithPolicyFunc(func(string, *http.Request) ([]budget.Policy, error) { return []budget.Policy{budget.PerMinute(1)}, nil })), threeCalls(always)},
	"WithRoute":      {just(WithRoute("GET /v1/", budget.PerMinute(1))), threeCalls(always)},
	"WithKey":        {just(WithKey(func(r *http.Request) string { return r.URL.Path })), keys},
	"WithCost": {just(WithCost(func(*http.Request) budget.Cost { return budget.Cost{budget.Tokens: 5} })),
		threeCalls(always, WithPolicies(budget.PerMinute(10).Of(budget.Tokens)))},
	"WithUsage": {just(WithUsage(func(_ *http.Response, tail []byte) budget.Cost {
		return budget.Cost{budget.Tokens: float64(len(tail))}
	})), threeCalls(func(int, *http.Request) reply { return reply{body: "123456"} }, WithPolicies(budget.PerMinute(10).Of(budget.Tokens)),
		WithCost(func(*http.Request) budget.Cost { return budget.Cost{budget.Tokens: 1} }))},
	"WithShare":            {just(WithShare(0.25)), threeCalls(always, WithPolicies(budget.PerMinute(4)))},
	"WithMaxInFlight":      {just(WithMaxInFlight(1)), threeAtOnce(slowly)},
	"WithMaxInFlightTotal": {just(WithMaxInFlightTotal(1)), threeAtOnce(slowly, WithMaxInFlight(10))},
	"WithMaxWait":          {just(WithMaxWait(NoWait)), threeCalls(always, WithPolicies(budget.PerMinute(1)))},
	"WithMaxHold":          {just(WithMaxHold(time.Second)), threeCalls(script(tooMany("Retry-After", "30")))},
	"WithMaxQueue":         {just(WithMaxQueue(1)), threeAtOnce(slowly, WithMaxInFlight(1))},
	"WithMaxAttempts":      {just(WithMaxAttempts(1)), threeCalls(script(reply{status: 500}, reply{status: 500}))},
	"WithBackoff": {just(WithBackoff(backoff.Policy{Initial: 20 * time.Second, Jitter: backoff.None})),
		threeCalls(script(reply{status: 500}, reply{status: 500}))},
	"WithAttemptTimeout": {just(WithAttemptTimeout(time.Second)), threeCalls(script(reply{after: time.Minute}))},
	"WithIdempotent":     {just(WithIdempotent(func(*http.Request) bool { return true })), posts(script(reply{status: 500}))},
	"WithVerdict": {just(WithVerdict(func(r *http.Response, _ func() []byte) Verdict {
		if r.StatusCode == 429 {
			return Accepted
		}
		return ByDefault
	})), threeCalls(script(tooMany("Retry-After", "30")))},
	"WithReport": {just(WithReport(func(r *headers.Report, _ *http.Response, _ func() []byte) {
		r.RetryAfter = headers.Some(10 * time.Second)
	})), threeCalls(script(tooMany("Retry-After", "30")))},
	"WithSkip":        {just(WithSkip(func(*http.Request) bool { return true })), threeCalls(always, WithPolicies(budget.PerMinute(1)))},
	"WithObserveOnly": {just(WithObserveOnly()), threeCalls(always, WithPolicies(budget.PerMinute(1)))},
	"WithObserver":    {nil, observed},
	"WithLogger":      {nil, logged},
	"WithStore":       {nil, stored},
}

func just(o Option) func(*testing.T) Option { return func(*testing.T) Option { return o } }

// slowly answers after a second.
func slowly(int, *http.Request) reply { return reply{after: time.Second} }

// timeline is what three calls meet: when they reach the server, and how they end.
type timeline struct {
	Hits   []time.Duration
	Status []int
	Errors []bool
}

func (l *timeline) call(c *http.Client, method string) {
	resp, _, err := do(c, context.Background(), method, api, "")
	l.Errors = append(l.Errors, err != nil)
	if err == nil {
		l.Status = append(l.Status, resp.StatusCode)
	}
}

func calls(method string, answer func(int, *http.Request) reply, others []Option) func(*testing.T, Option) any {
	return func(t *testing.T, with Option) any {
		s := newServer(answer)
		c, _ := client(t, s, append(others, with)...)
		var l timeline
		for range 3 {
			l.call(c, method)
		}
		for _, at := range s.times() {
			l.Hits = append(l.Hits, at.Round(5*time.Second)) // what is random is less than that
		}
		return l
	}
}

func threeCalls(answer func(int, *http.Request) reply, others ...Option) func(*testing.T, Option) any {
	return calls(http.MethodGet, answer, others)
}

func posts(answer func(int, *http.Request) reply, others ...Option) func(*testing.T, Option) any {
	return calls(http.MethodPost, answer, others)
}

// threeAtOnce is how long three simultaneous calls take, and how many fail.
func threeAtOnce(answer func(int, *http.Request) reply, others ...Option) func(*testing.T, Option) any {
	return func(t *testing.T, with Option) any {
		s := newServer(answer)
		c, _ := client(t, s, append(others, with)...)
		var mu sync.Mutex
		failed := 0
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if _, _, err := get(c, api); err != nil {
					mu.Lock()
					failed++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		return []any{time.Since(s.start), failed}
	}
}

func keys(t *testing.T, with Option) any {
	c, tr := client(t, newServer(always), with)
	_, _, err := get(c, api)
	require.NoError(t, err)
	return tr.Snapshot()[0].Key
}

func observed(t *testing.T, with Option) any {
	n := 0
	both := []Option{with, WithObserver(ObserverFunc(func(context.Context, Event) { n++ })), WithObserver(ObserverFunc(func(context.Context, Event) { n++ }))}
	if with == nil {
		both = nil
	}
	c, _ := client(t, newServer(always), both...)
	_, _, err := get(c, api)
	require.NoError(t, err)
	return n
}

func logged(t *testing.T, with Option) any {
	var out bytes.Buffer
	opts := []Option{WithPolicies(budget.PerMinute(1))}
	if with != nil {
		opts = append(opts, WithLogger(slog.New(slog.NewTextHandler(&out, nil))))
	}
	c, _ := client(t, newServer(always), opts...)
	flood(t, c, 2, api)
	return out.Len() > 0
}

// stored has two transports draw on one budget.
func stored(t *testing.T, with Option) any {
	s := newServer(always)
	opts := []Option{WithPolicies(budget.PerMinute(1))}
	if with != nil {
		opts = append(opts, WithStore(&memory{laws: map[string]budget.Budget{}}))
	}
	for range 2 {
		c, _ := client(t, s, opts...)
		flood(t, c, 1, api)
	}
	return time.Since(s.start) > 50*time.Second
}

func TestAPI11EveryOptionHasAnEffect(t *testing.T) {
	for name, o := range optionEffects {
		t.Run(name, func(t *testing.T) {
			none, given := Options(), Options()
			if o.option != nil {
				given = o.option(t)
			} else {
				none = nil
			}
			var without, with any
			synctest.Test(t, func(t *testing.T) { without = o.script(t, none) })
			synctest.Test(t, func(t *testing.T) { with = o.script(t, given) })
			assert.NotEqual(t, without, with)
		})
	}
}

// publicOptions is every exported function of the package whose name begins with With and that makes an Option.
func publicOptions(t *testing.T) (names []string) {
	files := token.NewFileSet()
	paths, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(files, path, nil, 0)
		require.NoError(t, err)
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "With") {
				names = append(names, fn.Name.Name)
			}
		}
	}
	return names
}

func TestAPI11EveryOptionIsInTheList(t *testing.T) {
	names := publicOptions(t)
	require.NotEmpty(t, names)
	for _, name := range names {
		assert.Contains(t, optionEffects, name, "an option without a test of what it does")
	}
	assert.Len(t, names, len(optionEffects))
}

func TestOptionsRefuseBadValues(t *testing.T) {
	bad := map[string]Option{
		"WithPolicies":         WithPolicies(budget.PerSecond(-1)),
		"WithPolicyFunc":       WithPolicyFunc(nil),
		"WithRoute":            WithRoute("no slash", budget.PerSecond(1)),
		"WithRoute /":          WithRoute("/"),
		"WithKey":              WithKey(nil),
		"WithCost":             WithCost(nil),
		"WithUsage":            WithUsage(nil),
		"WithShare":            WithShare(1.5),
		"WithMaxInFlight":      WithMaxInFlight(0),
		"WithMaxInFlightTotal": WithMaxInFlightTotal(-1),
		"WithMaxWait":          WithMaxWait(0),
		"WithMaxHold":          WithMaxHold(-1),
		"WithMaxQueue":         WithMaxQueue(0),
		"WithMaxAttempts":      WithMaxAttempts(0),
		"WithBackoff":          WithBackoff(backoff.Policy{Initial: -1}),
		"WithAttemptTimeout":   WithAttemptTimeout(0),
		"WithIdempotent":       WithIdempotent(nil),
		"WithVerdict":          WithVerdict(nil),
		"WithReport":           WithReport(nil),
		"WithSkip":             WithSkip(nil),
		"WithStore":            WithStore(nil),
		"WithObserveOnly":      Options(WithObserveOnly(), WithObserveOnly()),
		"WithObserver":         WithObserver(nil),
		"WithLogger":           WithLogger(nil),
	}
	for _, name := range publicOptions(t) {
		require.Contains(t, bad, name)
	}
	for name, o := range bad {
		_, err := NewTransport(nil, o)
		require.Error(t, err, name)
		assert.True(t, strings.HasPrefix(err.Error(), "throttle: "+name), err)
	}
	_, err := NewTransport(nil, nil)
	require.Error(t, err)
	_, err = NewClient(WithMaxQueue(0))
	require.Error(t, err)
}

func TestPAC04NonsensicalLimitsAreRefusedAtConstruction(t *testing.T) {
	nan := budget.PerSecond(0)
	nan.Limit /= nan.Limit
	for _, p := range []budget.Policy{budget.PerSecond(-1), budget.PerSecond(0), nan, budget.PerSecond(5).WithBurst(0.5)} {
		_, err := NewTransport(nil, WithPolicies(p))
		require.Error(t, err, p)
	}
	_, tr := client(t, newNoop(), WithPolicies(budget.PerSecond(5)))
	require.Error(t, tr.SetPolicies(budget.PerSecond(0)), "also while it runs")
	_, err := NewTransport(nil, WithPolicies(budget.PerDay(1000)))
	require.NoError(t, err)
	_, err = NewTransport(nil, WithPolicies(budget.PerDay(12)))
	require.ErrorContains(t, err, "WithMaxHold", "one every two hours is more than a call waits")
	_, err = NewTransport(nil, WithPolicies(budget.PerDay(12)), WithMaxHold(24*time.Hour))
	require.NoError(t, err)
}

func TestAPI03SingleValuedOptionsAreGivenOnce(t *testing.T) {
	single := map[string]func() Option{
		"WithKey":            func() Option { return WithKey(ByHost) },
		"WithShare":          func() Option { return WithShare(0.5) },
		"WithMaxHold":        func() Option { return WithMaxHold(time.Hour) },
		"WithBackoff":        func() Option { return WithBackoff(backoff.Policy{}) },
		"WithAttemptTimeout": func() Option { return WithAttemptTimeout(time.Hour) },
		"WithStore":          func() Option { return WithStore(&memory{laws: map[string]budget.Budget{}}) },
		"WithLogger":         func() Option { return WithLogger(slog.Default()) },
	}
	for name, o := range single {
		_, err := NewTransport(nil, o(), Options(o()))
		require.ErrorContains(t, err, name+" is given twice")
	}
	_, err := NewTransport(nil, WithPolicies(budget.PerSecond(1)), WithPolicies(budget.PerHour(100)))
	require.NoError(t, err, "policies add up")
}
