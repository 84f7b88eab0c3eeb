package headers

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVendorsThatFollowNoFamily(t *testing.T) {
	expect(t, []expectation{
		{
			"HubSpot without the daily quota",
			[]string{
				"X-HubSpot-RateLimit-Max: 100",
				"X-HubSpot-RateLimit-Remaining: 98",
				"X-HubSpot-RateLimit-Interval-Milliseconds: 10000",
			},
			[]string{`requests "" limit=100 left=98 window=10s`},
		},
		{
			"Trello, one of two",
			[]string{
				"x-rate-limit-api-key-interval-ms: 10000",
				"x-rate-limit-api-key-max: 300",
				"x-rate-limit-api-key-remaining: 299",
			},
			[]string{`requests "api-key" limit=300 left=299 window=10s`},
		},
		{
			"BigCommerce",
			[]string{
				"X-Rate-Limit-Requests-Left: 149",
				"X-Rate-Limit-Requests-Quota: 150",
				"X-Rate-Limit-Time-Reset-Ms: 15000",
				"X-Rate-Limit-Time-Window-Ms: 30000",
			},
			[]string{`requests "" limit=150 left=149 reset=15s±0s window=30s`},
		},
		{
			"Etsy",
			[]string{
				"x-limit-per-second: 10",
				"x-remaining-this-second: 9",
				"x-limit-per-day: 10000",
				"x-remaining-today: 9899",
			},
			[]string{
				`requests "day" limit=10000 left=9899 window=24h0m0s`,
				`requests "second" limit=10 left=9 window=1s`,
			},
		},
		{
			"Strava",
			[]string{
				"X-RateLimit-Limit: 600,30000",
				"X-RateLimit-Usage: 314, 27536",
				"X-ReadRateLimit-Limit: 100,1000",
				"X-ReadRateLimit-Usage: 692,5",
			},
			[]string{
				`requests "" limit=30000 left=2464 window=24h0m0s`,
				`requests "" limit=600 left=286 window=15m0s`,
				`requests "read" limit=100 left=0 window=15m0s`,
				`requests "read" limit=1000 left=995 window=24h0m0s`,
			},
		},
		{
			"Strava, broken",
			[]string{
				"X-RateLimit-Limit: many,30000",
				"X-RateLimit-Usage: 314,many",
			},
			[]string{`requests "" limit=30000 window=24h0m0s`},
		},
		{
			"Riot",
			[]string{
				"X-App-Rate-Limit: 20:1,100:120",
				"X-App-Rate-Limit-Count: 1:1,50:120",
				"X-Method-Rate-Limit: 2000:60",
				"X-Method-Rate-Limit-Count: 2001:60",
			},
			[]string{
				`requests "app" limit=100 left=50 window=2m0s`,
				`requests "app" limit=20 left=19 window=1s`,
				`requests "method" limit=2000 left=0 window=1m0s`,
			},
		},
		{
			"Riot without counts",
			[]string{"X-App-Rate-Limit: 20:1, x:y, 5"},
			[]string{`requests "app" limit=20 window=1s`},
		},
		{
			"Zendesk endpoints",
			[]string{
				"x-rate-limit: 700",
				"x-rate-limit-remaining: 699",
				"ratelimit-reset: 41",
				"zendesk-ratelimit-tickets-index: total=100; remaining=99; resets=41",
			},
			[]string{
				`requests "" limit=700 left=699 reset=41s±1s`,
				`requests "tickets-index" limit=100 left=99 reset=41s±1s`,
			},
		},
		{"Zendesk, broken", []string{"zendesk-ratelimit-x: total=-1; remaining; =5"}, []string{}},
		{
			"Azure subscriptions",
			[]string{
				"x-ms-ratelimit-remaining-subscription-reads: 11999",
				"x-ms-ratelimit-remaining-tenant-writes: 1199",
			},
			[]string{
				`requests "subscription-reads" left=11999`,
				`requests "tenant-writes" left=1199`,
			},
		},
		{
			"Azure resources",
			[]string{
				"x-ms-ratelimit-remaining-resource: Microsoft.Compute/HighCostGet3Min;159,Microsoft.Compute/HighCostGet30Min;1200",
				"x-ms-ratelimit-remaining-resource: Microsoft.Compute/Delete3Min;107, broken;x",
			},
			[]string{
				`requests "Microsoft.Compute/Delete3Min" left=107`,
				`requests "Microsoft.Compute/HighCostGet30Min" left=1200`,
				`requests "Microsoft.Compute/HighCostGet3Min" left=159`,
			},
		},
		{
			"Salesforce",
			[]string{"Sforce-Limit-Info: api-usage=25/5000; per-app-api-usage=17/250(appName=sample);broken;x=1/y"},
			[]string{
				`requests "api-usage" limit=5000 left=4975`,
				`requests "per-app-api-usage" limit=250 left=233`,
			},
		},
		{
			"Shopify",
			[]string{
				"X-Shopify-Shop-Api-Call-Limit: 32/40",
				"X-Shopify-Shop-Api-Call-Limit: 41/40",
				"http_x_shopify_shop_api_call_limit: 1/40",
			},
			[]string{`requests "" limit=40 left=0`},
		},
		{
			"Shopify, broken",
			[]string{
				"X-Shopify-Shop-Api-Call-Limit: 32",
				"X-Shopify-Shop-Api-Call-Limit: -1/40",
			},
			[]string{},
		},
		{
			"Meta",
			[]string{
				`X-App-Usage: {"call_count":28,"total_cputime":10,"total_time":130}`,
				`X-Ad-Account-Usage: {"acc_id_util_pct":9.5,"reset_time_duration":100}`,
				`X-Business-Use-Case-Usage: {"1":[{"type":"ads","call_count":100,"estimated_time_to_regain_access":5},{"type":"pages","call_count":1,"estimated_time_to_regain_access":1e9}]}`,
				"X-Page-Usage: {broken",
			},
			[]string{
				`percent "1/ads" limit=100 left=0 reset=5m0s±1m0s`,
				`percent "1/pages" limit=100 left=99`,
				`percent "ad-account" limit=100 left=90.5 reset=1m40s±1s`,
				`percent "app" limit=100 left=0`,
			},
		},
		{
			"Basecamp",
			[]string{`X-RateLimit: {"name":"API","period":10,"limit":50,"remaining":0,"until":"2026-03-01T12:00:05Z"}`},
			[]string{`requests "API" limit=50 left=0 reset=5s±1s window=10s`},
		},
		{
			"Basecamp, broken",
			[]string{`X-RateLimit: {"name":"API","period":-10,"limit":-50,"until":"soon"}`},
			[]string{},
		},
		{"Basecamp, in part", []string{`X-RateLimit: {"limit":50}`}, []string{`requests "" limit=50`}},
		{
			"KuCoin",
			[]string{
				"gw-ratelimit-limit: 500",
				"gw-ratelimit-remaining: 300",
				"gw-ratelimit-reset: 1489",
			},
			[]string{`requests "" limit=500 left=300 reset=1.489s±0s`},
		},
		{
			"Xero",
			[]string{
				"X-DayLimit-Remaining: 4999",
				"X-MinLimit-Remaining: 59",
				"X-AppMinLimit-Remaining: 9999",
			},
			[]string{
				`requests "app-minute" left=9999 window=1m0s`,
				`requests "day" left=4999 window=24h0m0s`,
				`requests "minute" left=59 window=1m0s`,
			},
		},
		{
			"Freshdesk",
			[]string{
				"X-RateLimit-Total: 5000",
				"X-RateLimit-Remaining: 4998",
				"X-RateLimit-Used-CurrentRequest: 1",
			},
			[]string{`requests "" limit=5000 left=4998`},
		},
		{
			"Akamai",
			[]string{
				"X-RateLimit-Remaining: 0",
				"X-RateLimit-Next: 2026-03-01T12:00:01.000Z",
			},
			[]string{`requests "" left=0 reset=1s±0s`},
		},
		{
			"Contentful",
			[]string{
				"X-Contentful-RateLimit-Second-Limit: 7",
				"X-Contentful-RateLimit-Second-Remaining: 0",
				"X-Contentful-RateLimit-Hour-Limit: 36000",
				"X-Contentful-RateLimit-Reset: 1",
			},
			[]string{
				`requests "" limit=36000 window=1h0m0s`,
				`requests "" limit=7 left=0 reset=1s±1s window=1s`,
			},
		},
	})
}

func TestAVendorsRuleNeedsItsMark(t *testing.T) {
	require.Empty(t, read("X-Remaining-Today: 5", "X-RateLimit-Max: 5", "X-HubSpot-RateLimit-Remaining: 5", "X-Bapi-Limit: 5"))
}

func TestAVendorsRuleCompletesWhatTheFamiliesTold(t *testing.T) {
	got := read("X-RateLimit-Limit-Daily: 200000", "X-RateLimit-Daily-Remaining: 199994", "X-RateLimit-Interval-Milliseconds: 10000", "X-RateLimit-Max: 100", "X-RateLimit-Remaining: 94")
	require.Equal(t, []string{`requests "" limit=100 left=94 window=10s`, `requests "daily" limit=200000 left=199994 window=24h0m0s`}, got)
}

func TestValuesTooLongForAServerAreNotDecoded(t *testing.T) {
	long := `{"limit":50,"name":"` + strings.Repeat("x", 16<<10) + `"}`
	require.Empty(t, Parse(http.Header{"X-Ratelimit": {long}}, 200, noon).Quotas)
	many := strings.Repeat("1:1,", 4000)
	requireSane(t, Parse(http.Header{"X-App-Rate-Limit": {many}, "X-App-Rate-Limit-Count": {many}}, 200, noon))
}

func TestEveryVendorIsReachableByItsMarks(t *testing.T) {
	require.LessOrEqual(t, len(vendors), 64, "marks are bits of a word")
	for i, v := range vendors {
		require.NotEmpty(t, v.name)
		require.NotEmpty(t, v.marks, v.name)
		require.True(t, len(v.quotas) > 0 || v.shape != noShape, v.name)
		for _, mark := range v.marks {
			require.Equal(t, slots+slot(i), places[mark], "%s is the mark of another", mark)
		}
	}
}
