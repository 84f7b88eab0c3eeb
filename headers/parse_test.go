package headers

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNothingIsReadFromNothing(t *testing.T) {
	for _, h := range []http.Header{nil, {}, {"": nil}, {"X": {"1"}}, {"Retry-After": nil}, {"X-Ratelimit-Limit": {}}, {"X-Ratelimit-Limit-Tokens": nil}} {
		r := Parse(h, 200, noon)
		require.False(t, r.RetryAfter.Known)
		require.False(t, r.ShouldRetry.Known)
		require.Empty(t, r.Quotas)
	}
}

func TestNamesAreReadInAnySpelling(t *testing.T) {
	for _, spell := range []func(string) string{strings.ToLower, strings.ToUpper, http.CanonicalHeaderKey, swapCase, func(s string) string { return s }} {
		h := http.Header{}
		for name, value := range map[string]string{
			"X-RateLimit-Limit": "5", "X-RateLimit-Remaining-Tokens": "4", "RateLimit-Policy": `"a";q=9;w=60`, "Retry-After": "7",
			"X-HubSpot-RateLimit-Daily": "8", "X-HubSpot-RateLimit-Max": "3", "Anthropic-Priority-Tokens-Limit": "6", "X-Should-Retry": "true",
			"Age": "0", "Content-Type": "x",
		} {
			h[spell(name)] = []string{value}
		}
		r := Parse(h, 200, noon)
		require.Equal(t, []string{`requests "" limit=3`, `requests "a" limit=9 window=1m0s`, `requests "daily" limit=8 window=24h0m0s`,
			`tokens "" left=4`, `tokens "priority" limit=6`}, show(r), spell("X-RateLimit-Limit"))
		require.Equal(t, Some(7*time.Second), r.RetryAfter)
		require.Equal(t, Some(true), r.ShouldRetry)
		h[spell("aGE")] = []string{"1"}
		require.Empty(t, Parse(h, 200, noon).Quotas)
	}
}

func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r - 32
		}
		return r | 32
	}, strings.ReplaceAll(s, "-", "\r")) // | 32 makes a hyphen of a return, as it keeps a hyphen
}

func TestSpellingsOfOneNameAreLinesOfOneHeader(t *testing.T) {
	h := http.Header{
		"X-RateLimit-Limit":      {"100"},
		"x-ratelimit-limit":      {"50"},
		"X-Ratelimit-Limit":      {"70"},
		"x-rate-limit":           {"5"},
		"X-Rate-Limit-Limit":     {"4"},
		"X-Rate-Limit-Remaining": {"1"},
	}
	require.Equal(t, []string{`requests "" limit=50 left=1`}, show(Parse(h, 200, noon)))
	require.Equal(t, []string{"70"}, h["X-Ratelimit-Limit"], "the caller's header is not changed")
	require.Equal(t, []string{`requests "" limit=4`}, show(Parse(http.Header{"X-Rate-Limit": {"5"}, "X-Rate-Limit-Limit": {"4"}}, 200, noon)))
}

func TestAReportIsOverwrittenWhole(t *testing.T) {
	r := Parse(header("Retry-After: 3", "x-should-retry: true", "X-RateLimit-Limit-Tokens: 5", "X-RateLimit-Remaining-Requests: 4"), 429, noon)
	memory := &r.Quotas[0]
	ParseInto(&r, header("X-RateLimit-Reset-Tokens: 3s"), 200, noon)
	require.Equal(t, Report{Quotas: []Quota{{Unit: "tokens", Reset: Some(3 * time.Second), Grain: time.Second}}}, r)
	require.Same(t, memory, &r.Quotas[0], "its memory is used again")
	ParseInto(&r, nil, 200, noon)
	require.Equal(t, Report{Quotas: []Quota{}}, r)
}

// Known families are read without allocating, but for the report itself.
func TestAllocations(t *testing.T) {
	for name, h := range benchmarkAnswers() {
		var r Report
		ParseInto(&r, h, 200, noon)
		quotas := len(r.Quotas)
		require.Zero(t, testing.AllocsPerRun(100, func() { ParseInto(&r, h, 200, noon) }), name)
		want := map[int]float64{0: 0, 1: 1, 2: 1, 4: 2}[quotas]
		require.Equal(t, want, testing.AllocsPerRun(100, func() { sink = Parse(h, 200, noon) }), "%s, %d quotas", name, quotas)
	}
}

func TestTheGateAdmitsEveryNameThatIsKnown(t *testing.T) {
	for name := range places {
		require.True(t, knownNames.admits(name), name)
		require.True(t, knownNames.admits(strings.ToLower(name)), name)
		require.True(t, isCanonical(name), "%s is not spelled as net/http spells it", name)
	}
	for _, p := range prefixes {
		require.True(t, knownNames.admits(p.text), p.text)
		require.True(t, isCanonical(p.text), p.text)
	}
}

func TestTheGateKeepsMostHeadersOut(t *testing.T) {
	admitted := 0
	everyday := []string{"Date", "Content-Type", "Content-Length", "Connection", "Server", "Vary", "Cache-Control", "Set-Cookie", "Etag", "Via",
		"X-Request-Id", "X-Powered-By", "X-Cache", "Cf-Ray", "Alt-Svc", "Strict-Transport-Security", "Access-Control-Allow-Origin", "Last-Modified", "Location", "Link"}
	for _, name := range everyday {
		if len(name) >= 4 && knownNames.admits(name) {
			admitted++
		}
	}
	require.Zero(t, admitted)
}

func TestAnswersFromACacheTellNoQuotas(t *testing.T) {
	fresh := []string{`requests "default" left=1`}
	expect(t, []expectation{
		{
			"aged",
			[]string{
				"Age: 35",
				`RateLimit: "default";r=1`,
				"X-RateLimit-Limit-Tokens: 5",
			},
			[]string{},
		},
		{
			"just stored",
			[]string{
				"Age: 0",
				`RateLimit: "default";r=1`,
			},
			fresh,
		},
		{
			"no age",
			[]string{
				"Age: old",
				`RateLimit: "default";r=1`,
			},
			fresh,
		},
		{
			"any line",
			[]string{
				"Age: x",
				"Age: 1",
				`RateLimit: "default";r=1`,
			},
			[]string{},
		},
		{
			"caching transport",
			[]string{
				"X-From-Cache: 1",
				`RateLimit: "default";r=1`,
			},
			[]string{},
		},
		{
			"another short name",
			[]string{
				"Via: 1",
				`RateLimit: "default";r=1`,
			},
			fresh,
		},
	})
}

// An answer of many families has more headers to keep than fit without allocating.
func TestAnAnswerOfManyFamilies(t *testing.T) {
	require.Equal(t, []string{`requests "core" limit=5 left=4 reset=3s±1s window=1m0s`}, read(
		"X-Rate-Limit-Limit: 50",
		"X-Rate-Limit-Remaining: 40",
		"X-Rate-Limit-Reset: 30",
		"X-RateLimit-Limit: 6",
		"X-RateLimit-Remaining: 5",
		"X-RateLimit-Reset: 4",
		"X-RateLimit-Used: 1",
		"X-RateLimit-Resource: core",
		"X-RateLimit-Name: other",
		"RateLimit-Limit: 5",
		"RateLimit-Remaining: 4",
		"RateLimit-Reset: 3",
		"RateLimit-Policy: 5;w=60",
		"RateLimit-Name: third",
	))
}
