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

func TestOneQuotaToldSeveralTimesIsOneQuota(t *testing.T) {
	expect(t, []expectation{
		{
			"the trio beats the X- trio",
			[]string{
				"RateLimit-Limit: 60",
				"RateLimit-Remaining: 7",
				"RateLimit-Reset: 20",
				"X-RateLimit-Limit: 100",
				"X-RateLimit-Remaining: 90",
				"X-RateLimit-Reset: 1772366500",
			},
			[]string{`requests "" limit=60 left=7 reset=20s±1s`},
		},
		{
			"later families fill",
			[]string{
				"RateLimit-Limit: 60",
				"X-RateLimit-Remaining: 9",
				"X-RateLimit-Limit: 5",
				"X-Rate-Limit-Reset: 4",
				"X-Rate-Limit-Remaining: 1",
			},
			[]string{`requests "" limit=60 left=9 reset=4s±1s`},
		},
		{
			"a list drops the trios",
			[]string{
				`RateLimit: "default";r=0;t=30`,
				"X-RateLimit-Remaining: 40",
				"RateLimit-Remaining: 41",
				"X-RateLimit-Limit: 5, 5;w=1",
			},
			[]string{`requests "default" left=0 reset=30s±1s`},
		},
		{
			"a list of another unit does not",
			[]string{
				`RateLimit: "bytes";r=0;t=30`,
				`RateLimit-Policy: "bytes";q=10;w=60;qu="content-bytes"`,
				"X-RateLimit-Remaining: 40",
			},
			[]string{
				`content-bytes "bytes" limit=10 left=0 reset=30s±1s window=1m0s`,
				`requests "" left=40`,
			},
		},
		{
			"a broken list does not",
			[]string{
				`RateLimit: "default`,
				"X-RateLimit-Remaining: 40",
			},
			[]string{`requests "" left=40`},
		},
		{
			"policies alone do not",
			[]string{
				`RateLimit-Policy: "app";q=65000;w=3600`,
				"X-RateLimit-Remaining: 40",
			},
			[]string{
				`requests "" left=40`,
				`requests "app" limit=65000 window=1h0m0s`,
			},
		},
		{
			"a dictionary is filled",
			[]string{
				"RateLimit: limit=10, reset=1",
				"X-RateLimit-Remaining: 4",
				"RateLimit-Reset: 9",
			},
			[]string{`requests "" limit=10 left=4 reset=1s±1s`},
		},
		{
			"qualified quotas stay apart",
			[]string{
				"RateLimit-Limit: 5",
				"RateLimit-Remaining: 4",
				"X-RateLimit-Limit-Minute: 5",
				"X-RateLimit-Remaining-Minute: 4",
			},
			[]string{
				`requests "" limit=5 left=4`,
				`requests "" limit=5 left=4 window=1m0s`,
			},
		},
		{
			"requests by name are the unnamed ones",
			[]string{
				"X-RateLimit-Limit: 100",
				"X-RateLimit-Limit-Requests: 5000",
				"X-RateLimit-Remaining-Requests: 4999",
			},
			[]string{`requests "" limit=100 left=4999`},
		},
	})
}

func TestWhatStandsBesideATrio(t *testing.T) {
	expect(t, []expectation{
		{
			"Discord: the length beats the moment",
			[]string{
				"X-RateLimit-Limit: 10",
				"X-RateLimit-Reset: 1772366500.123",
				"X-RateLimit-Reset-After: 64.57",
				"X-RateLimit-Bucket: aB1",
			},
			[]string{`requests "aB1" limit=10 reset=1m4.57s±10ms`},
		},
		{
			"a broken length does not",
			[]string{
				"X-RateLimit-Reset: 30",
				"X-RateLimit-Reset-After: x",
			},
			[]string{`requests "" reset=30s±1s`},
		},
		{
			"GitHub",
			[]string{
				"X-RateLimit-Limit: 5000",
				"X-RateLimit-Remaining: 4999",
				"X-RateLimit-Used: 7",
				"X-RateLimit-Resource: core",
			},
			[]string{`requests "core" limit=5000 left=4999`},
		},
		{
			"Reddit",
			[]string{
				"X-RateLimit-Remaining: 298.0",
				"X-RateLimit-Used: 2",
			},
			[]string{`requests "" limit=300 left=298`},
		},
		{
			"Spring",
			[]string{
				"X-RateLimit-Remaining: 19",
				"X-RateLimit-Replenish-Rate: 10",
				"X-RateLimit-Burst-Capacity: 20",
			},
			[]string{`requests "" limit=20 left=19`},
		},
		{
			"a limit beats the burst",
			[]string{
				"X-RateLimit-Limit: 5",
				"X-RateLimit-Burst-Capacity: 20",
			},
			[]string{`requests "" limit=5`},
		},
		{
			"Datadog",
			[]string{
				"X-RateLimit-Limit: 100",
				"X-RateLimit-Period: 3600",
				"X-RateLimit-Name: logs",
			},
			[]string{`requests "logs" limit=100 window=1h0m0s`},
		},
		{
			"a period with its unit",
			[]string{
				"X-RateLimit-Limit: 100",
				"X-RateLimit-Period: 1m",
			},
			[]string{`requests "" limit=100 window=1m0s`},
		},
		{
			"a period of nothing",
			[]string{
				"X-RateLimit-Limit: 100",
				"X-RateLimit-Period: 0",
			},
			[]string{`requests "" limit=100`},
		},
		{
			"GitLab",
			[]string{
				"RateLimit-Limit: 600",
				"RateLimit-Name: web",
				"RateLimit-Observed: 601",
			},
			[]string{`requests "web" limit=600`},
		},
		{
			"Docker Hub",
			[]string{
				"RateLimit-Limit: 100;w=21600",
				"RateLimit-Remaining: 76;w=21600",
				"Docker-RateLimit-Source: x",
			},
			[]string{`requests "" limit=100 left=76 window=6h0m0s`},
		},
		{
			"Linear",
			[]string{
				"X-RateLimit-Endpoint-Requests-Limit: 100",
				"X-RateLimit-Endpoint-Name: issueCreate",
				"X-RateLimit-Complexity-Limit: 250000",
				"X-RateLimit-Complexity-Remaining: 249000",
			},
			[]string{
				`complexity "" limit=250000 left=249000`,
				`requests "issueCreate" limit=100`,
			},
		},
		{
			"Linear without a name",
			[]string{
				"X-RateLimit-Endpoint-Requests-Limit: 100",
				"X-RateLimit-Endpoint-Name: ",
			},
			[]string{`requests "endpoint" limit=100`},
		},
		{
			"an endpoint named like another quota",
			[]string{
				"X-RateLimit-Endpoint-Requests-Limit: 100",
				"X-RateLimit-App-Requests-Limit: 50",
				"X-RateLimit-Endpoint-Name: app",
			},
			[]string{`requests "app" limit=50`},
		},
	})
}

func TestPoliciesInALimitHeader(t *testing.T) {
	expect(t, []expectation{
		{
			"Envoy",
			[]string{
				`x-ratelimit-limit: 10, 10;w=1;name="per-ip", 1000;w=3600`,
				"x-ratelimit-remaining: 4",
			},
			[]string{
				`requests "" limit=1000 window=1h0m0s`,
				`requests "per-ip" limit=10 left=4 window=1s`,
			},
		},
		{
			"drafts 00 to 02",
			[]string{"RateLimit-Limit: 10, 10;window=1, 50;w=60;comment=\"a, b\""},
			[]string{
				`requests "" limit=10 window=1s`,
				`requests "" limit=50 window=1m0s`,
			},
		},
		{
			"no policy of this limit",
			[]string{"RateLimit-Limit: 0, 15;w=20"},
			[]string{
				`requests "" limit=0`,
				`requests "" limit=15 window=20s`,
			},
		},
		{
			"two of this limit",
			[]string{
				"RateLimit-Limit: 10",
				"RateLimit-Policy: 10;w=1, 10;w=60",
			},
			[]string{
				`requests "" limit=10`,
				`requests "" limit=10 window=1m0s`,
				`requests "" limit=10 window=1s`,
			},
		},
		{
			"one policy told twice",
			[]string{
				"RateLimit-Limit: 10, 10;w=60",
				"RateLimit-Policy: 10;w=60",
			},
			[]string{`requests "" limit=10 window=1m0s`},
		},
		{
			"in lines of their own",
			[]string{
				"RateLimit-Limit: 10",
				"RateLimit-Limit: 1000;w=3600",
				"RateLimit-Limit: 10;w=1",
			},
			[]string{
				`requests "" limit=10 window=1s`,
				`requests "" limit=1000 window=1h0m0s`,
			},
		},
		{
			"a period that is another window",
			[]string{
				"X-RateLimit-Limit: 10, 10;w=60",
				"X-RateLimit-Period: 1",
			},
			[]string{
				`requests "" limit=10 window=1m0s`,
				`requests "" limit=10 window=1s`,
			},
		},
		{
			"broken policies",
			[]string{
				"RateLimit-Limit: 10, 10;w",
				"RateLimit-Policy: 10, 20;w=0, -5;w=1, ten;w=1;q=3, 30;w=x",
			},
			[]string{
				`requests "" limit=10`,
				`requests "ten" limit=3 window=1s`,
			},
		},
		{
			"a name for the window",
			[]string{
				"RateLimit-Limit: 10",
				`RateLimit-Policy: "ten";q=10;w=1`,
			},
			[]string{`requests "ten" limit=10 window=1s`},
		},
	})
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
