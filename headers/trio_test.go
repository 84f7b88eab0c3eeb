package headers

import "testing"

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
