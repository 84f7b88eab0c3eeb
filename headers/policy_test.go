package headers

import "testing"

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
