package headers

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAQualifierIsReadFromItsEnd(t *testing.T) {
	for what, want := range map[string]subject{
		"requests":                    {unit: "requests"},
		"req":                         {unit: "requests"},
		"tokens":                      {unit: "tokens"},
		"input-tokens":                {unit: "input_tokens"},
		"output_tokens":               {unit: "output_tokens"},
		"complexity":                  {unit: "complexity"},
		"minute":                      {unit: "requests", window: Some(time.Minute)},
		"day":                         {unit: "requests", window: Some(24 * time.Hour)},
		"tokens-minute":               {unit: "tokens", window: Some(time.Minute)},
		"req-second":                  {unit: "requests", window: Some(time.Second)},
		"requests-per-hour":           {unit: "requests", window: Some(time.Hour)},
		"per-hour":                    {unit: "requests", window: Some(time.Hour)},
		"project-tokens":              {unit: "tokens", name: "project"},
		"tokens_usage_based":          {unit: "tokens", name: "usage_based"},
		"tokens-prompt":               {unit: "tokens", name: "prompt"},
		"free-project-requests-day":   {unit: "requests", name: "free-project", window: Some(24 * time.Hour)},
		"endpoint-requests":           {unit: "requests", name: "endpoint"},
		"rapid-free-plans-hard-limit": {unit: "requests", name: "rapid-free-plans-hard-limit"},
		"daily":                       {unit: "requests", name: "daily"},
		"tokenssomething":             {unit: "requests", name: "tokenssomething"},
		"superrequests":               {unit: "requests", name: "superrequests"},
		"holiday":                     {unit: "requests", name: "holiday"},
	} {
		require.Equal(t, want, subjectOf(http.CanonicalHeaderKey(what)), what)
	}
}

func TestTheFactStandsBeforeOrAfter(t *testing.T) {
	expect(t, []expectation{
		{
			"OpenAI",
			[]string{
				"x-ratelimit-limit-tokens: 150000",
				"x-ratelimit-remaining-tokens: 149984",
				"x-ratelimit-reset-tokens: 6m0s",
			},
			[]string{`tokens "" limit=150000 left=149984 reset=6m0s±1s`},
		},
		{
			"Reka",
			[]string{
				"x-ratelimit-tokens-limit: 150000",
				"x-ratelimit-tokens-remaining: 149984",
				"x-ratelimit-tokens-reset: 86400",
			},
			[]string{`tokens "" limit=150000 left=149984 reset=24h0m0s±1s`},
		},
		{
			"both",
			[]string{
				"x-ratelimit-limit-tokens: 5",
				"ratelimit-tokens-remaining: 4",
				"x-rate-limit-reset-tokens: 3",
			},
			[]string{`tokens "" limit=5 left=4 reset=3s±1s`},
		},
		{
			"Cerebras: a limit like a moment",
			[]string{
				"x-ratelimit-limit-requests-day: 1000000000",
				"x-ratelimit-reset-requests-day: 33011.382867097855",
			},
			[]string{`requests "" limit=1e+09 reset=9h10m11.382867098s±0s window=24h0m0s`},
		},
		{
			"a name that ends in limit",
			[]string{
				"x-ratelimit-hard-limit-limit: 5",
				"x-ratelimit-hard-limit-remaining: 4",
			},
			[]string{`requests "hard-limit" limit=5 left=4`},
		},
		{
			"what has no value",
			[]string{
				"x-ratelimit-limit-tokens: unlimited",
				"x-ratelimit-remaining-tokens: -1",
				"x-ratelimit-reset-tokens: 999999h",
			},
			[]string{},
		},
		{
			"one side broken",
			[]string{
				"x-ratelimit-remaining-tokens: 90",
				"x-ratelimit-reset-tokens: 1h-2m",
			},
			[]string{`tokens "" left=90`},
		},
	})
}

func TestTheAnthropicFamilies(t *testing.T) {
	expect(t, []expectation{
		{
			"units",
			[]string{
				"anthropic-ratelimit-input-tokens-limit: 200000",
				"anthropic-ratelimit-input-tokens-remaining: 0",
				"anthropic-ratelimit-input-tokens-reset: 2026-03-01T12:01:03Z",
				"anthropic-ratelimit-requests-limit: 4000",
			},
			[]string{
				`input_tokens "" limit=200000 left=0 reset=1m3s±1s`,
				`requests "" limit=4000`,
			},
		},
		{
			"tiers",
			[]string{
				"anthropic-priority-output-tokens-limit: 10",
				"anthropic-fast-tokens-remaining: 3",
			},
			[]string{
				`output_tokens "priority" limit=10`,
				`tokens "fast" left=3`,
			},
		},
		{
			"subscriptions",
			[]string{
				"anthropic-ratelimit-unified-5h-reset: 1772370000",
				"anthropic-ratelimit-unified-7d-utilization: 0.45",
				"anthropic-ratelimit-unified-overage-reset: 60",
			},
			[]string{
				`utilization "unified-5h" reset=1h0m0s±1s window=5h0m0s`,
				`utilization "unified-overage" reset=1m0s±1s`,
			},
		},
	})
}
