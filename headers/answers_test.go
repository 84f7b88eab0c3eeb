package headers

import "testing"

// Whole answers of services that the vectors do not hold, as their servers send them.

func TestAnswersOfAIServices(t *testing.T) {
	expect(t, []expectation{
		{
			"Cerebras",
			[]string{
				"x-ratelimit-limit-requests-day: 1000000000",
				"x-ratelimit-limit-tokens-minute: 1000000000",
				"x-ratelimit-remaining-requests-day: 999997455",
				"x-ratelimit-remaining-tokens-minute: 999998298",
				"x-ratelimit-reset-requests-day: 33011.382867097855",
				"x-ratelimit-reset-tokens-minute: 11.382867097854614",
			},
			[]string{
				`requests "" limit=1e+09 left=9.99997455e+08 reset=9h10m11.382867098s±0s window=24h0m0s`,
				`tokens "" limit=1e+09 left=9.99998298e+08 reset=11.382867098s±0s window=1m0s`,
			},
		},
		{
			"Fireworks",
			[]string{
				"x-ratelimit-limit-requests: 600",
				"x-ratelimit-remaining-requests: 599",
				"x-ratelimit-limit-tokens-prompt: 60000",
				"x-ratelimit-remaining-tokens-prompt: 59980",
				"x-ratelimit-limit-tokens-generated: 6000",
				"x-ratelimit-remaining-tokens-generated: 5990",
				"x-ratelimit-over-limit: no",
			},
			[]string{
				`requests "" limit=600 left=599`,
				`tokens "generated" limit=6000 left=5990`,
				`tokens "prompt" limit=60000 left=59980`,
			},
		},
		{
			"Azure OpenAI, limits switched off",
			[]string{
				"x-ratelimit-limit-requests: -1",
				"x-ratelimit-remaining-requests: -1",
				"x-ratelimit-limit-tokens: -1",
				"x-ratelimit-remaining-tokens: -1",
				"x-ms-region: Sweden Central",
				"x-ms-client-request-id: 1",
			},
			[]string{},
		},
		{
			"Azure OpenAI, hyphened",
			[]string{
				"x-rate-limit-reset-tokens: 28",
			},
			[]string{`tokens "" reset=28s±1s`},
		},
		{
			"Together",
			[]string{
				"x-ratelimit-limit: 10",
				"x-ratelimit-remaining: 9",
				"x-ratelimit-reset: 1",
				"x-tokenlimit-limit: 33333",
				"x-tokenlimit-remaining: 33000",
			},
			[]string{
				`requests "" limit=10 left=9 reset=1s±1s`,
				`tokens "" limit=33333 left=33000`,
			},
		},
		{
			"Cohere",
			[]string{
				"x-endpoint-monthly-call-limit: 1000",
				"x-trial-endpoint-call-limit: 40",
				"x-trial-endpoint-call-remaining: 38",
			},
			[]string{`requests "trial-endpoint" limit=40 left=38`},
		},
	})
}

func TestAnswersOfPlatforms(t *testing.T) {
	expect(t, []expectation{
		{
			"GitLab",
			[]string{
				"RateLimit-Limit: 2000",
				"RateLimit-Name: throttle_authenticated_api",
				"RateLimit-Observed: 1",
				"RateLimit-Remaining: 1999",
				"RateLimit-Reset: 1772366460",
				"RateLimit-ResetTime: Sun, 01 Mar 2026 12:01:00 GMT",
			},
			[]string{`requests "throttle_authenticated_api" limit=2000 left=1999 reset=1m0s±1s`},
		},
		{
			"Bitbucket",
			[]string{
				"X-RateLimit-Limit: 1000",
				"X-RateLimit-Resource: api-repositories",
				"X-RateLimit-NearLimit: false",
			},
			[]string{`requests "api-repositories" limit=1000`},
		},
		{
			"Discord",
			[]string{
				"X-RateLimit-Limit: 5",
				"X-RateLimit-Remaining: 4",
				"X-RateLimit-Reset: 1772366401.000",
				"X-RateLimit-Reset-After: 1.000",
				"X-RateLimit-Bucket: 80c17d2f203122d936070c88c8d10f33",
			},
			[]string{`requests "80c17d2f203122d936070c88c8d10f33" limit=5 left=4 reset=1s±0s`},
		},
		{
			"Docker Hub",
			[]string{
				"RateLimit-Limit: 100;w=21600",
				"RateLimit-Remaining: 98;w=21600",
				"Docker-RateLimit-Source: 192.0.2.6",
			},
			[]string{`requests "" limit=100 left=98 window=6h0m0s`},
		},
		{
			"Heroku",
			[]string{
				"RateLimit-Multiplier: 1",
				"RateLimit-Remaining: 4499",
			},
			[]string{`requests "" left=4499`},
		},
		{
			"Klaviyo",
			[]string{
				"RateLimit-Limit: 3, 3;w=1, 60;w=60",
				"RateLimit-Remaining: 2",
				"RateLimit-Reset: 0",
			},
			[]string{
				`requests "" limit=3 left=2 reset=0s±1s window=1s`,
				`requests "" limit=60 window=1m0s`,
			},
		},
		{
			"LaunchDarkly",
			[]string{
				"X-RateLimit-Global-Remaining: 98",
				"X-RateLimit-Route-Remaining: 8",
				"X-RateLimit-Reset: 1772366405000",
			},
			[]string{
				`requests "" reset=5s±0s`,
				`requests "global" left=98`,
				`requests "route" left=8`,
			},
		},
		{
			"Sentry",
			[]string{
				"X-Sentry-Rate-Limit-Limit: 40",
				"X-Sentry-Rate-Limit-Remaining: 39",
				"X-Sentry-Rate-Limit-Reset: 1772366401",
				"X-Sentry-Rate-Limit-ConcurrentLimit: 25",
				"X-Sentry-Rate-Limit-ConcurrentRemaining: 24",
			},
			[]string{
				`concurrent-requests "" limit=25 left=24`,
				`requests "" limit=40 left=39 reset=1s±1s`,
			},
		},
		{
			"X",
			[]string{
				"x-rate-limit-limit: 1200",
				"x-rate-limit-remaining: 1199",
				"x-rate-limit-reset: 1772367300",
				"x-user-limit-24hour-limit: 100",
				"x-user-limit-24hour-remaining: 99",
				"x-user-limit-24hour-reset: 1772452800",
			},
			[]string{
				`requests "" limit=1200 left=1199 reset=15m0s±1s`,
				`requests "user" limit=100 left=99 reset=24h0m0s±1s window=24h0m0s`,
			},
		},
		{
			"Brevo",
			[]string{
				"x-sib-ratelimit-limit: 100",
				"x-sib-ratelimit-remaining: 99",
				"x-sib-ratelimit-reset: 3600",
			},
			[]string{`requests "" limit=100 left=99 reset=1h0m0s±1s`},
		},
		{
			"Crossref",
			[]string{
				"x-rate-limit-limit: 50",
				"x-rate-limit-interval: 1s",
			},
			[]string{`requests "" limit=50 window=1s`},
		},
		{
			"Slack, Stripe, Figma: nothing but a wait or a reason",
			[]string{
				"Stripe-Rate-Limited-Reason: global-rate",
				"X-Figma-Rate-Limit-Type: low",
				"X-Slack-Req-Id: 1",
			},
			[]string{},
		},
	})
}

func TestAnswersOfGateways(t *testing.T) {
	expect(t, []expectation{
		{
			"Kong",
			[]string{
				"X-RateLimit-Limit-Second: 2",
				"X-RateLimit-Remaining-Second: 1",
				"X-RateLimit-Limit-Day: 1000",
				"X-RateLimit-Remaining-Day: 999",
				"RateLimit-Limit: 2",
				"RateLimit-Remaining: 1",
				"RateLimit-Reset: 1",
				"X-Kong-Upstream-Latency: 5",
			},
			[]string{
				`requests "" limit=1000 left=999 window=24h0m0s`,
				`requests "" limit=2 left=1 reset=1s±1s`,
				`requests "" limit=2 left=1 window=1s`,
			},
		},
		{
			"Tyk without a session",
			[]string{
				"X-RateLimit-Limit: 0",
				"X-RateLimit-Remaining: 0",
				"X-RateLimit-Reset: 0",
			},
			[]string{`requests "" limit=0 left=0 reset=0s±1s`},
		},
		{
			"express-rate-limit, draft 7 with legacy headers",
			[]string{
				"X-RateLimit-Limit: 100",
				"X-RateLimit-Remaining: 99",
				"X-RateLimit-Reset: 1772367300",
				"RateLimit-Policy: 100;w=900",
				"RateLimit: limit=100, remaining=99, reset=900",
			},
			[]string{`requests "" limit=100 left=99 reset=15m0s±1s window=15m0s`},
		},
		{
			"a proxy that joins lines, in front of a service that has its own limiter",
			[]string{
				"X-RateLimit-Limit: 100, 100",
				"X-RateLimit-Limit: 60",
				"X-RateLimit-Remaining: 99, 98",
				"X-RateLimit-Remaining: 59",
				"X-RateLimit-Reset: 1772366430, 1772366430",
				"X-RateLimit-Reset: 45",
			},
			[]string{`requests "" limit=60 left=59 reset=45s±1s`},
		},
		{
			"a gateway with the list, a service with the trio of its own unit",
			[]string{
				`RateLimit-Policy: "gw";q=1000;w=60`,
				`RateLimit: "gw";r=900;t=12`,
				"X-RateLimit-Limit-Tokens: 5000",
				"X-RateLimit-Remaining-Tokens: 4000",
			},
			[]string{
				`requests "gw" limit=1000 left=900 reset=12s±1s window=1m0s`,
				`tokens "" limit=5000 left=4000`,
			},
		},
	})
}
