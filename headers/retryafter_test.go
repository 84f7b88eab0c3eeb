package headers

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func retryAfter(lines ...string) Maybe[time.Duration] {
	return Parse(header(lines...), 429, noon).RetryAfter
}

func TestRetryAfterIsReadInEveryForm(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"0": 0, "5": 5 * time.Second, "2.0": 2 * time.Second, "0.493": 493 * time.Millisecond, "86400": 24 * time.Hour,
		"259200": 72 * time.Hour, "31622400": 366 * 24 * time.Hour, " 7 ": 7 * time.Second,
		"250ms": 250 * time.Millisecond, "1m30s": 90 * time.Second,
		"Sun, 01 Mar 2026 12:02:00 GMT":  2 * time.Minute,
		"Sun, 01 Mar 2026 12:02:00 UTC":  2 * time.Minute,
		"Sunday, 01-Mar-26 12:02:00 GMT": 2 * time.Minute,
		"Sun Mar  1 12:02:00 2026":       2 * time.Minute,
		"2026-03-01T12:02:00Z":           2 * time.Minute,
		"Wed, 21 Oct 2015 07:28:00 GMT":  0, // past, however far
		"5, 60":                          time.Minute,
		"60,5 ,7":                        time.Minute,
		"5, 5":                           5 * time.Second,
		"Sun, 01 Mar 2026 12:02:00 GMT, Sun, 01 Mar 2026 12:02:00 GMT": 2 * time.Minute,
	} {
		require.Equal(t, Some(want), retryAfter("Retry-After: "+value), value)
	}
}

func TestAnUnreadableRetryAfterIsAbsentAndNotZero(t *testing.T) {
	for _, value := range []string{
		"",
		"-10",
		"-0.5",
		"+3",
		"1e3",
		"0x1p4",
		"1_000",
		"Inf",
		"Infinity",
		"NaN",
		"nan",
		"120junk",
		"soon",
		`"30"`,
		"６０",
		"9999999999",
		"9223372036",
		"9223372037",
		"31622401",
		"1772366430",
		"99999999999999999999999999999999999",
		strings.Repeat("1", 41),
		"5, 60s",
		"5, x",
		"5,",
		",5",
		"5, 31622401",
		", ",
		"5;60",
		"Zun, 29 Sep 2023 16:26:27 GMT",
		"Sun, 01 Mar 2026 12:02:00",
		"Fri, 31 Dec 9999 23:59:59 GMT",
		"999999h",
		"1h-2m",
		"true",
		"null",
		"-1, 5",
	} {
		require.Equal(t, Maybe[time.Duration]{}, retryAfter("Retry-After: "+value), value)
	}
}

func TestOfSeveralWaitsTheLongestCounts(t *testing.T) {
	require.Equal(t, Some(time.Minute), retryAfter("Retry-After: 5", "Retry-After: 60"))
	require.Equal(t, Some(time.Minute), retryAfter("Retry-After: 60", "Retry-After: 5"))
	require.Equal(t, Some(7*time.Second), retryAfter("Retry-After: abc", "Retry-After: 7", "Retry-After: 9999999999"))
	require.Equal(t, Some(2*time.Minute), retryAfter("Retry-After: 120", "Retry-After: Sun, 01 Mar 2026 12:01:00 GMT"))
	require.Equal(t, Some(42*time.Second), retryAfter("X-RateLimit-Retry-After: 42"))
	require.Equal(t, Some(42*time.Second), retryAfter("X-RateLimit-Retry-After: 42", "Retry-After: 2"))
}

func TestMillisecondsBeatTheSecondsThatRoundThem(t *testing.T) {
	require.Equal(t, Some(1500*time.Millisecond), retryAfter("retry-after-ms: 1500", "retry-after: 2"))
	require.Equal(t, Some(8*time.Millisecond), retryAfter("x-ms-retry-after-ms: 8"))
	require.Equal(t, Some(500*time.Microsecond), retryAfter("retry-after-ms: 0.5", "retry-after: 1"))
	require.Equal(t, Some(20*time.Millisecond), retryAfter("retry-after-ms: 10", "x-ms-retry-after-ms: 20"))
	require.Equal(t, Some(60*time.Millisecond), retryAfter("retry-after-ms: 5, 60"))
	require.Equal(t, Some(24*time.Hour), retryAfter("retry-after-ms: 86400000", "retry-after: 86400"))
	for _, broken := range []string{
		"-500",
		"",
		"x",
		"1e3",
		"31622400001",
		"Sun, 01 Mar 2026 12:02:00 GMT",
		"5s",
	} {
		require.Equal(t, Some(2*time.Second), retryAfter("retry-after-ms: "+broken, "retry-after: 2"), broken)
	}
}

func TestRetryAfterIsReadWithAnyStatusAndFromACache(t *testing.T) {
	for _, status := range []int{0, 200, 301, 403, 418, 429, 503, 529} {
		r := Parse(header("Retry-After: 3", "Age: 10"), status, noon)
		require.Equal(t, Some(3*time.Second), r.RetryAfter, status)
	}
}

func TestTheServersVerdictOnRetrying(t *testing.T) {
	for value, want := range map[string]Maybe[bool]{
		"true": Some(true), "false": Some(false), "True": Some(true), " FALSE ": Some(false), "": {}, "1": {}, "yes": {},
	} {
		require.Equal(t, want, Parse(header("x-should-retry: "+value), 429, noon).ShouldRetry, value)
	}
	require.Equal(t, Some(false), Parse(header("x-should-retry: true", "x-should-retry: false"), 429, noon).ShouldRetry)
	require.Equal(t, Some(true), Parse(http.Header{"x-should-retry": {"maybe", "true"}}, 429, noon).ShouldRetry)
}
