package headers

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// reading is what some header lines say, written as showQuota writes it.
type expectation struct {
	name  string
	lines []string
	want  []string
}

func expect(t *testing.T, cases []expectation) {
	t.Helper()
	for _, c := range cases {
		require.Equal(t, c.want, read(c.lines...), c.name)
	}
}

func TestOneStateInEverySyntax(t *testing.T) {
	expect(t, []expectation{
		{
			"trio",
			[]string{
				"RateLimit-Limit: 100",
				"RateLimit-Remaining: 50",
				"RateLimit-Reset: 30",
			},
			[]string{`requests "" limit=100 left=50 reset=30s±1s`},
		},
		{
			"X-, joined",
			[]string{
				"X-RateLimit-Limit: 100",
				"X-RateLimit-Remaining: 50",
				"X-RateLimit-Reset: 30",
			},
			[]string{`requests "" limit=100 left=50 reset=30s±1s`},
		},
		{
			"X-, hyphened",
			[]string{
				"X-Rate-Limit-Limit: 100",
				"X-Rate-Limit-Remaining: 50",
				"X-Rate-Limit-Reset: 30",
			},
			[]string{`requests "" limit=100 left=50 reset=30s±1s`},
		},
		{
			"without -limit",
			[]string{
				"X-Rate-Limit: 100",
				"X-Rate-Limit-Remaining: 50",
			},
			[]string{`requests "" limit=100 left=50`},
		},
		{
			"dictionary",
			[]string{"RateLimit: limit=100, remaining=50, reset=30"},
			[]string{`requests "" limit=100 left=50 reset=30s±1s`},
		},
		{
			"list",
			[]string{
				`RateLimit: "default";r=50;t=30`,
				`RateLimit-Policy: "default";q=100;w=60`,
			},
			[]string{`requests "default" limit=100 left=50 reset=30s±1s window=1m0s`},
		},
	})
}

func TestEveryFieldIsOptionalAndNothingIsInvented(t *testing.T) {
	expect(t, []expectation{
		{"nothing", nil, []string{}},
		{"limit", []string{"X-RateLimit-Limit: 100"}, []string{`requests "" limit=100`}},
		{"remaining", []string{"X-RateLimit-Remaining: 0"}, []string{`requests "" left=0`}},
		{"reset", []string{"X-RateLimit-Reset: 4"}, []string{`requests "" reset=4s±1s`}},
		{
			"window alone",
			[]string{
				"X-RateLimit-Period: 60",
				"X-RateLimit-Limit: unlimited",
			},
			[]string{},
		},
		{"name alone", []string{"X-RateLimit-Bucket: abcd"}, []string{}},
		{"used alone", []string{"X-RateLimit-Used: 4"}, []string{}},
		{
			"negative",
			[]string{
				"X-RateLimit-Limit: -1",
				"X-RateLimit-Remaining: -1",
				"X-RateLimit-Reset: 0",
			},
			[]string{`requests "" reset=0s±1s`},
		},
		{
			"zeros",
			[]string{
				"X-RateLimit-Limit: 0",
				"X-RateLimit-Remaining: 0",
				"X-RateLimit-Reset: 0",
			},
			[]string{`requests "" limit=0 left=0 reset=0s±1s`},
		},
		{
			"over the limit",
			[]string{
				"X-RateLimit-Limit: 7",
				"X-RateLimit-Remaining: 9",
			},
			[]string{`requests "" limit=7 left=9`},
		},
		{"fraction", []string{"X-RateLimit-Remaining: 99.5"}, []string{`requests "" left=99.5`}},
		{
			"empty lines",
			[]string{
				"X-RateLimit-Limit:",
				"X-RateLimit-Remaining:",
				"X-RateLimit-Reset:",
			},
			[]string{},
		},
	})
}

func TestNamesThatOnlyLookLikeQuotas(t *testing.T) {
	expect(t, []expectation{
		{
			"none",
			[]string{
				"X-Rate: 5",
				"X-Limit: 10",
				"RateLimit-Reason: none",
				"RateLimit-Observed: 600",
				"RateLimit-ResetTime: 2026-03-02T00:00:00Z",
				"X-RateLimit-Scope: user",
				"X-RateLimit-Global: true",
				"X-RateLimit-NearLimit: true",
				"X-Rate-Limit-Problem: 1",
				"X-RateLimit-Tokens-Query-Cost: 52",
				"X-Complexity: 5",
				"Docker-RateLimit-Source: 192.0.2.6",
				"X-RateLimit-Limit-Remaining: 5",
				"Twilio-Concurrent-Requests: 101",
				"X-Ms-Throttle-Limit-Percentage: 0.9",
				"X-Resend-Daily-Quota: 52",
				"X-Envoy-RateLimited: true",
				"Anthropic-Version: 2023-06-01",
				"Anthropic-RateLimit-Unified-Status: allowed",
				"X-RateLimit-Requested-Tokens: 1",
				"Retry-After-Limit: 5",
				"X-Ratelimit: 5",
				"Remaining-Calls: 0",
			},
			[]string{},
		},
	})
}

func TestSeveralLinesAreSeveralLimiters(t *testing.T) {
	expect(t, []expectation{
		{
			"smallest, smallest, latest",
			[]string{
				"X-RateLimit-Limit: 100",
				"X-RateLimit-Limit: 50",
				"X-RateLimit-Remaining: 10",
				"X-RateLimit-Remaining: 30",
				"X-RateLimit-Reset: 45",
				"X-RateLimit-Reset: 30",
			},
			[]string{`requests "" limit=50 left=10 reset=45s±1s`},
		},
		{
			"a broken line is passed over",
			[]string{
				"X-RateLimit-Remaining: x",
				"X-RateLimit-Remaining: 3",
			},
			[]string{`requests "" left=3`},
		},
		{
			"the finer of equal resets",
			[]string{
				"X-RateLimit-Reset: 30",
				"X-RateLimit-Reset: 30.000",
			},
			[]string{`requests "" reset=30s±0s`},
		},
		{
			"joined, equal",
			[]string{
				"X-RateLimit-Limit: 100, 100",
				"X-RateLimit-Remaining: 7,7",
				"X-RateLimit-Reset: 30, 30",
			},
			[]string{`requests "" limit=100 left=7 reset=30s±1s`},
		},
		{
			"joined, different",
			[]string{
				"X-RateLimit-Limit: 600,30000",
				"X-RateLimit-Remaining: 5, 6",
				"X-RateLimit-Reset: 30, 31",
			},
			[]string{},
		},
		{"thousands", []string{"X-RateLimit-Limit: 30,000"}, []string{}},
		{
			"tokens joined",
			[]string{
				"X-RateLimit-Reset-Tokens: 6m0s, 6m0s",
				"X-RateLimit-Limit-Tokens: 5, 5",
			},
			[]string{`tokens "" limit=5 reset=6m0s±1s`},
		},
	})
}
