package headers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What went wrong elsewhere, as far as reading is to blame. The ids are those of the project's list of cases.

func TestHDR01AWaitTooBigForADurationIsNeverNegative(t *testing.T) {
	for _, value := range []string{
		"9223372036",
		"9223372037",
		"9223372036854775807",
		"99999999999999999999",
		"9999999999",
		"18446744074",
	} {
		r := Parse(header("Retry-After: "+value), 429, noon)
		require.False(t, r.RetryAfter.Known, value)
		require.Zero(t, r.RetryAfter.Value, value)
	}
}

func TestHDR02ANegativeWaitIsMalformedAndAPastDateIsNoWait(t *testing.T) {
	for value, want := range map[string]Maybe[time.Duration]{
		"-1":                            {},
		"-0.5":                          {},
		"Wed, 21 Oct 2015 07:28:00 GMT": Some(time.Duration(0)),
		"Sun, 01 Mar 2026 11:59:59 GMT": Some(time.Duration(0)),
	} {
		require.Equal(t, want, retryAfter("Retry-After: "+value), value)
	}
}

func TestHDR04AllThreeLayoutsOfADate(t *testing.T) {
	for _, value := range []string{
		"Sun, 01 Mar 2026 11:00:30 GMT",
		"Sunday, 01-Mar-26 11:00:30 GMT",
		"Sun Mar  1 11:00:30 2026",
	} {
		got := retryAfter("Date: Sun, 01 Mar 2026 11:00:00 GMT", "Retry-After: "+value)
		require.Equal(t, Some(30*time.Second), got, value)
	}
}

func TestHDR06FractionsOfASecond(t *testing.T) {
	for value, want := range map[string]Maybe[time.Duration]{
		"2.0":          Some(2 * time.Second),
		"0.5":          Some(500 * time.Millisecond),
		"0.001":        Some(time.Millisecond),
		"0.0000000001": Some(time.Nanosecond),
		"1e3":          {},
		"NaN":          {},
		"Inf":          {},
	} {
		require.Equal(t, want, retryAfter("Retry-After: "+value), value)
	}
}

func TestHDR07MillisecondsAndSecondsTogether(t *testing.T) {
	require.Equal(t, Some(1500*time.Millisecond), retryAfter("retry-after-ms: 1500", "retry-after: 2"))
	require.Equal(t, Some(2*time.Second), retryAfter("retry-after-ms: -1", "retry-after: 2"))
}

func TestHDR10OneNameForEveryUnitOfTime(t *testing.T) {
	now := time.Unix(1800000000, 0)
	for value, want := range map[string]Maybe[time.Duration]{
		"30":                  Some(30 * time.Second),
		"1800000030":          Some(30 * time.Second),
		"1800000030000":       Some(30 * time.Second),
		"1800000030000000":    Some(30 * time.Second),
		"1800000030000000000": Some(30 * time.Second),
		"1800000030.25":       Some(30250 * time.Millisecond),
		"4102444800":          {},
		"abc":                 {},
	} {
		r := Parse(header("X-RateLimit-Remaining: 0", "X-RateLimit-Reset: "+value), 429, now)
		require.Len(t, r.Quotas, 1, value)
		require.Equal(t, want, r.Quotas[0].Reset, value)
		require.Equal(t, want, r.Wait(), value)
	}
}

func TestHDR11AResetInThePastIsNow(t *testing.T) {
	now := time.Unix(1800000000, 0)
	r := Parse(header("X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1799999990"), 429, now)
	require.Equal(t, Some(time.Duration(0)), r.Wait())
}

func TestHDR12TheResetOfWhatIsExhausted(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  time.Duration
	}{
		"both": {[]string{
			"x-ratelimit-remaining-requests: 0",
			"x-ratelimit-reset-requests: 1s",
			"x-ratelimit-remaining-tokens: 0",
			"x-ratelimit-reset-tokens: 6m0s",
		}, 6 * time.Minute},
		"requests only": {[]string{
			"x-ratelimit-remaining-requests: 0",
			"x-ratelimit-reset-requests: 20ms",
			"x-ratelimit-remaining-tokens: 90000",
			"x-ratelimit-reset-tokens: 6m0s",
		}, 20 * time.Millisecond},
		"no saying which": {[]string{
			"x-ratelimit-reset-requests: 1s",
			"x-ratelimit-reset-tokens: 6m0s",
		}, 6 * time.Minute},
	} {
		r := Parse(header(c.lines...), 429, noon)
		require.Equal(t, Some(c.want), r.Wait(), name)
	}
}

func TestHDR13SentinelsAreUnknown(t *testing.T) {
	got := read(
		"x-ratelimit-limit-tokens: -1",
		"x-ratelimit-remaining-tokens: -1",
		"x-ratelimit-reset-tokens: 0",
	)
	require.Equal(t, []string{`tokens "" reset=0s±1s`}, got)
}

func TestHDR15SeveralPoliciesInOneFieldOrInSeveral(t *testing.T) {
	want := []string{
		`requests "burst" limit=100 left=0 reset=20s±1s window=1m0s`,
		`requests "daily" limit=1000 left=121 reset=5m0s±1s window=24h0m0s`,
	}
	require.Equal(t, want, read(
		`RateLimit-Policy: "burst";q=100;w=60, "daily";q=1000;w=86400`,
		`RateLimit: "burst";r=0;t=20, "daily";r=121;t=300`,
	))
	require.Equal(t, want, read(
		`RateLimit-Policy: "burst";q=100;w=60`,
		`RateLimit-Policy: "daily";q=1000;w=86400`,
		`RateLimit: "burst";r=0;t=20`,
		`RateLimit: "daily";r=121;t=300`,
	))
	require.Equal(t, []string{`content-bytes "b" limit=9 left=0 window=1m0s`}, read(
		`RateLimit-Policy: "b";q=9;w=60;qu="content-bytes"`,
		`RateLimit: "b";r=0`,
	))
}

func TestHDR16TheNewerSyntaxWins(t *testing.T) {
	older := []string{"X-RateLimit-Limit: 100", "X-RateLimit-Remaining: 40", "X-RateLimit-Reset: 5"}
	for newer, want := range map[string]string{
		`RateLimit: "default";r=0;t=30`:             `requests "default" left=0 reset=30s±1s`,
		`RateLimit: limit=60, remaining=0, reset=9`: `requests "" limit=60 left=0 reset=9s±1s`,
		"RateLimit-Remaining: 0":                    `requests "" limit=100 left=0 reset=5s±1s`,
	} {
		require.Equal(t, []string{want}, read(append(older, newer)...), newer)
	}
}

func TestHDR21ASecondaryLimitIsToldInWords(t *testing.T) {
	said := ParseBody([]byte(`{"message":"You have exceeded a secondary rate limit."}`), noon)
	require.True(t, said.Throttled)
	said = ParseBody([]byte(`{"message":"Resource not accessible by integration"}`), noon)
	require.False(t, said.Throttled)
}

func TestHDR22PlentyRemainingIsNoReasonToWaitForTheReset(t *testing.T) {
	r := Parse(header("X-RateLimit-Remaining: 14463", "X-RateLimit-Reset: 2100"), 403, noon)
	require.False(t, r.Wait().Known)
}

func TestHDR25ASpentBudgetIsHopeless(t *testing.T) {
	said := ParseBody([]byte(`{"error":{"code":"insufficient_quota"}}`), noon)
	require.True(t, said.Hopeless)
}

func TestHDR27TheServersVerdict(t *testing.T) {
	require.Equal(t, Some(false), Parse(header("x-should-retry: false"), 429, noon).ShouldRetry)
	require.Equal(t, Some(true), Parse(header("x-should-retry: true"), 409, noon).ShouldRetry)
	require.False(t, Parse(header(), 429, noon).ShouldRetry.Known)
}

func TestHDR28ThrottlingInsideASuccess(t *testing.T) {
	for _, body := range []string{
		`{"errors":[{"type":"RATE_LIMITED"}]}`,
		`{"type":"error","error":{"type":"overloaded_error"}}`,
	} {
		require.True(t, ParseBody([]byte(body), noon).Throttled, body)
	}
}
