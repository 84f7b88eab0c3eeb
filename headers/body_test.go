package headers

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWaitsInBodies(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want time.Duration
	}{
		"Gemini": {
			`{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"@type":"x"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"45.837906927s"}]}}`,
			45837906927,
		},
		"Gemini, streaming": {
			`[{"error":{"code":429,"details":[{"retryDelay":"26s"}]}}]`,
			26 * time.Second,
		},
		"Discord": {
			`{"message":"You are being rate limited.","retry_after":64.57,"global":false}`,
			64570 * time.Millisecond,
		},
		"Telegram": {
			`{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 35","parameters":{"retry_after":35}}`,
			35 * time.Second,
		},
		"a text": {
			`{"error":{"code":"rate_limited","retry_after":"12"}}`,
			12 * time.Second,
		},
		"camel case":   {`{"error":"rate limit exceeded","retryAfter":3}`, 3 * time.Second},
		"milliseconds": {`{"retry_after_ms":250}`, 250 * time.Millisecond},
		"metadata": {
			`{"error":{"code":429,"message":"Provider returned error","metadata":{"retry_after_seconds":12}}}`,
			12 * time.Second,
		},
		"the longest": {`{"retry_after":3,"error":{"retry_after":5}}`, 5 * time.Second},
		"Shopify": {
			`{"errors":[{"message":"Throttled","extensions":{"code":"THROTTLED"}}],"extensions":{"cost":{"requestedQueryCost":100,"throttleStatus":{"maximumAvailable":1000.0,"currentlyAvailable":20,"restoreRate":50.0}}}}`,
			1600 * time.Millisecond,
		},
		"OpenAI": {
			`{"error":{"message":"Rate limit reached for gpt-4o. Limit 30000, Used 29000. Please try again in 6m0.5s. Visit x.","type":"tokens","code":"rate_limit_exceeded"}}`,
			360500 * time.Millisecond,
		},
		"OpenAI, quick": {
			`{"error":{"message":"Please try again in 6ms.","code":"rate_limit_exceeded"}}`,
			6 * time.Millisecond,
		},
		"Azure": {
			`{"error":{"code":"429","message":"Requests to x have exceeded the call rate limit. Please retry after 86400 seconds."}}`,
			24 * time.Hour,
		},
		"Azure, one": {
			`{"error":{"code":"429","message":"Please retry after 1 second."}}`,
			time.Second,
		},
		"in minutes": {
			`{"error":{"code":429,"message":"Please wait 2 minutes, then try again."}}`,
			2 * time.Minute,
		},
		"in hours": {`{"error":{"code":429,"message":"Try again in 3 hours"}}`, 3 * time.Hour},
		"in days":  {`{"error":{"code":429,"message":"Try again in 1 day!"}}`, 24 * time.Hour},
		"in words": {
			`{"error":{"code":429,"message":"Retry in 250 ms"}}`,
			250 * time.Millisecond,
		},
		"Django": {
			`{"detail":"Request was throttled. Expected available in 28 seconds."}`,
			28 * time.Second,
		},
		"the deepest known": {`[{"error":{"errors":[{"reason":"x","retry_after":8}]}}]`, 8 * time.Second},
		"blank before":      {" \n{\"retry_after\":1}", time.Second},
	} {
		require.Equal(t, Some(c.want), ParseBody([]byte(c.body), noon).RetryAfter, name)
	}
}

func TestBodiesThatTellNoWait(t *testing.T) {
	for _, body := range []string{
		"", " ", "null", "5", "{", `{"retry_after"`, `{"retry_after":-1}`, `{"retry_after":1e9}`, `{"retry_after":"soon"}`, `{"retry_after":null}`,
		`{"retry_after":[5]}`, `{"retry_after":9999999999}`, `{"error":{"details":[{"retryDelay":"-5s"},{"retryDelay":"999999h"},{"retryDelay":5}]}}`,
		`{"content":{"error":{"retry_after":5}}}`, `{"choices":[{"message":"rate limit exceeded, try again in 5s"}]}`,
		`{"message":"try again in 5s"}`, // no refusal, only talk of one
		`{"error":{"code":429,"message":"Please wait a few minutes before you try again."}}`,
		`{"error":{"code":429,"message":"try again in 5 fortnights"}}`, `{"error":{"code":429,"message":"try again in "}}`,
		`{"extensions":{"cost":{"requestedQueryCost":100,"throttleStatus":{"currentlyAvailable":20,"restoreRate":50}}}}`,
		`{"errors":[{"extensions":{"code":"THROTTLED"}}],"extensions":{"cost":{"requestedQueryCost":10,"throttleStatus":{"currentlyAvailable":20,"restoreRate":50}}}}`,
		`{"errors":[{"extensions":{"code":"THROTTLED"}}],"extensions":{"cost":{"requestedQueryCost":100,"throttleStatus":{"currentlyAvailable":20,"restoreRate":0}}}}`,
		`{"errors":[{"extensions":{"code":"THROTTLED"}}],"extensions":{"cost":{"requestedQueryCost":1e300,"throttleStatus":{"currentlyAvailable":20,"restoreRate":1e-300}}}}`,
	} {
		require.Equal(t, Maybe[time.Duration]{}, ParseBody([]byte(body), noon).RetryAfter, body)
	}
}

func TestQuotasInBodies(t *testing.T) {
	b := ParseBody([]byte(`{"error":{"message":"Rate limit exceeded: free-models-per-min.","code":429,"metadata":{"headers":{"X-RateLimit-Limit":"20","X-RateLimit-Remaining":"0","X-RateLimit-Reset":"1772366430000","Retry-After":"7"}}}}`), noon)
	require.Equal(t, []string{`requests "" limit=20 left=0 reset=30s±0s`}, show(Report{Quotas: b.Quotas}))
	require.Equal(t, Some(7*time.Second), b.RetryAfter)

	b = ParseBody([]byte(`{"data":{},"extensions":{"cost":{"requestedQueryCost":10,"throttleStatus":{"maximumAvailable":1000.0,"currentlyAvailable":990,"restoreRate":50.0}}}}`), noon)
	require.Equal(t, []string{`points "" limit=1000 left=990`}, show(Report{Quotas: b.Quotas}))
	require.False(t, b.Throttled)
}

func TestBodiesThatAreRefusals(t *testing.T) {
	for _, body := range []string{
		`{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again.","documentation_url":"x"}`,
		`{"message":"You have triggered an abuse detection mechanism."}`,
		`{"message":"API rate limit exceeded for 192.0.2.1."}`,
		`{"errors":[{"type":"RATE_LIMITED","message":"x"}]}`,
		`{"errors":[{"message":"limited","extensions":{"code":"RATELIMITED"}}]}`,
		`{"error":["EAPI:Rate limit exceeded"]}`,
		`{"error":{"code":"maxlag","info":"Waiting for x","lag":5.2}}`,
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
		`{"type":"error","error":{"type":"rate_limit_error","message":"x"}}`,
		`{"__type":"com.amazon.coral.service#ThrottlingException","message":"x"}`,
		`{"code":20429,"message":"Too Many Requests","status":429}`,
		`{"errors":{"code":"too_many_requests"}}`,
		`{"ok":false,"error_code":429,"description":"Slow down"}`,
		`{"ok":false,"description":"Too Many Requests: retry after 35"}`,
		`"Rate limit exceeded"`,
		`["Too many requests"]`,
		"You have exceeded a secondary rate limit",
		"<html>Too Many Requests</html>",
		"{cut off: Rate limit exceeded",
	} {
		b := ParseBody([]byte(body), noon)
		require.True(t, b.Throttled, body)
		require.False(t, b.Hopeless, body)
	}
}

func TestBodiesThatAreNoRefusals(t *testing.T) {
	for _, body := range []string{
		"",
		"{}",
		"[]",
		`""`,
		`{"message":"Resource not accessible by integration"}`,
		`{"error":{"code":500,"message":"x"}}`,
		`{"errors":[{"type":"NOT_FOUND"}]}`,
		`{"data":{"message":"Too many requests"}}`,
		`{"error":null,"errors":null,"code":null}`,
		`{"error":true,"message":5,"details":"x","extensions":[],"metadata":"y","parameters":1}`,
		"<html>Forbidden</html>",
	} {
		require.Equal(t, Body{}, ParseBody([]byte(body), noon), body)
	}
}

func TestRefusalsThatWaitingDoesNotHelp(t *testing.T) {
	for _, body := range []string{
		`{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`,
		`{"error":{"code":"billing_hard_limit_reached"}}`,
		`{"error":{"code":"billing_not_active"}}`,
		`{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProject"},{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"retryDelay":"46s"}]}}`,
	} {
		b := ParseBody([]byte(body), noon)
		require.True(t, b.Hopeless, body)
		require.True(t, b.Throttled, body)
	}
}

func TestAMinutesQuotaIsNotHopelessThoughItsMessageSpeaksOfThePlan(t *testing.T) {
	b := ParseBody([]byte(`{"error":{
		"code": 429,
		"status": "RESOURCE_EXHAUSTED",
		"message": "You exceeded your current quota, please check your plan and billing details. Please retry in 26.3s.",
		"details": [{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "GenerateRequestsPerMinutePerProject"}]}]
	}}`), noon)
	require.True(t, b.Throttled)
	require.False(t, b.Hopeless)
	require.Equal(t, Some(26300*time.Millisecond), b.RetryAfter)
}

func TestHeadersAreBelievedBeforeTheBody(t *testing.T) {
	b := ParseBody([]byte(`{"retry_after":64.57,"error":{"metadata":{"headers":{"X-RateLimit-Limit":"20"}}}}`), noon)
	r := Parse(header("Retry-After: 65", "X-RateLimit-Remaining: 3"), 429, noon)
	b.AddTo(&r)
	require.Equal(t, Some(65*time.Second), r.RetryAfter)
	require.Equal(t, []string{`requests "" limit=20 left=3`}, show(r))
	var empty Report
	b.AddTo(&empty)
	require.Equal(t, Some(64570*time.Millisecond), empty.RetryAfter)
}

func TestDeepBodiesAreNotFollowedToTheEnd(t *testing.T) {
	for _, s := range []string{
		strings.Repeat("[", 9000) + strings.Repeat("]", 9000),
		strings.Repeat(`{"error":`, 5000) + `{"retry_after":5}` + strings.Repeat("}", 5000),
		strings.Repeat(`{"errors":[`, 4000) + strings.Repeat("]}", 4000),
		`{"errors":[` + strings.Repeat(`{"code":429},`, 4000) + `{}]}`,
	} {
		b := ParseBody([]byte(s), noon)
		require.False(t, b.RetryAfter.Known)
		require.LessOrEqual(t, len(b.Quotas), 64)
	}
}
