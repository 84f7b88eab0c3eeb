package headers

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func at(t testing.TB, text string) time.Time {
	t.Helper()
	m, ok := parseMoment(text)
	require.True(t, ok, text)
	return time.Unix(m.sec, m.nsec).UTC()
}

func TestTheThreeFormsOfAnHTTPDateAndTheirNeighbours(t *testing.T) {
	want := time.Date(2026, 3, 1, 12, 2, 0, 0, time.UTC)
	for _, text := range []string{
		"Sun, 01 Mar 2026 12:02:00 GMT",
		"Sun, 01 Mar 2026 12:02:00 UTC",   // what a Go server makes of time.RFC1123
		"Sun, 1 Mar 2026 12:02:00 GMT",    // RFC 822
		"Sun, 01 Mar 2026 13:02:00 +0100", // RFC 5322
		"Mon, 01 Mar 2026 12:02:00 GMT",   // the wrong weekday
		"Sunday, 01-Mar-26 12:02:00 GMT",  // RFC 850
		"Sunday, 01-Mar-26 12:02:00 UTC",
		"Sun Mar  1 12:02:00 2026", // asctime
		"2026-03-01T12:02:00Z",
		"2026-03-01t12:02:00z",
		"2026-03-01 12:02:00",
		"2026-03-01 12:02:00 UTC",
		"2026-03-01 12:02:00 +0000",
		"2026-03-01T12:02:00+00:00",
		"2026-03-01T10:32:00-01:30",
		"2026-03-01T13:02:00+0100",
		"2026-03-01T12:02Z",
		"2026-03-01T12:02",
		"2026-03-01T12:01:60Z", // a leap second
	} {
		require.Equal(t, want, at(t, text), text)
	}
}

func TestFractionsOfASecondAreKept(t *testing.T) {
	require.Equal(t, 123*time.Millisecond, time.Duration(at(t, "2026-03-01T12:00:00.123Z").Nanosecond()))
	require.Equal(t, 123456789, at(t, "2026-03-01T12:00:00.123456789+01:00").Nanosecond())
	require.Equal(t, time.Date(2026, 3, 1, 11, 0, 0, 5e8, time.UTC), at(t, "2026-03-01T12:00:00.5+01:00"))
}

func TestAMomentKnowsItsGrain(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"Sun, 01 Mar 2026 12:02:00 GMT": time.Second,
		"2026-03-01T12:02:00Z":          time.Second,
		"2026-03-01T12:02:00.5Z":        100 * time.Millisecond,
		"2026-03-01T12:02:00.500Z":      0,
		"2026-03-01T12:02Z":             time.Minute,
		"2026-03-01T12:02+01:00":        time.Minute,
	} {
		m, ok := parseMoment(text)
		require.True(t, ok, text)
		require.Equal(t, want, m.grain, text)
	}
}

func TestWhatIsNoDateIsRefused(t *testing.T) {
	for _, text := range []string{
		"",
		"soon",
		"Zun, 29 Sep 2023 16:26:27 GMT",
		"Sun, 01 Mrz 2026 12:02:00 GMT",
		"Sun, 01 Mar 2026 12:02:00 PST",
		"Sun, 31 Feb 2026 12:02:00 GMT",
		"Sun, 00 Mar 2026 12:02:00 GMT",
		"Sun, 01 Mar 2026 24:02:00 GMT",
		"Sun, 01 Mar 2026 12:60:00 GMT",
		"Sun, 01 Mar 2026 12:02:61 GMT",
		"Sun, 01-Mar 2026 12:02:00 GMT",
		"Sun, 01 anF 2026 12:02:00 GMT",
		"Sun, xx Mar 2026 12:02:00 GMT",
		"Tue Feb 16 2021 09:02:42 GMT+0100 (Central European Standard Time)",
		"2026-03-01",
		"2026-13-01T12:00:00Z",
		"2026-02-29T12:00:00Z",
		"2026-03-01X12:00:00Z",
		"2026-03-01T12:00:0",
		"2026-03-01T12:00:",
		"2026-03-01T12:00:00.Z",
		"2026-03-01T12:00:00.1234567890Z",
		"2026-03-01T12:00:00+1",
		"2026/03/01T12:00:00Z",
		"2026-03-01T12:00:00 CET",
		"2026-03-01T12:00:00+25:00",
		"2026-03-01T12:00:00+00:60",
		"２026-03-01T12:00:00Z",
		strings.Repeat("2", 41),
	} {
		_, ok := parseMoment(text)
		require.False(t, ok, text)
	}
}

// The fast way through a date is only worth having if it agrees with the slow one.
func TestDatesAgreeWithTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "unix"), 0).UTC()
		for _, layout := range []string{
			http.TimeFormat,
			time.RFC1123,
			time.ANSIC,
			time.RFC3339,
			time.DateTime,
		} {
			text := want.Format(layout)
			m, ok := parseMoment(text)
			require.True(t, ok, text)
			require.Equal(t, want.Unix(), m.sec, text)
		}
	})
}

func TestMomentsAreMeasuredAgainstTheAnswersOwnDate(t *testing.T) {
	for name, c := range map[string]struct {
		dates []string
		want  time.Duration
		grain time.Duration
	}{
		"no date":         {nil, 60 * time.Second, time.Second},
		"behind":          {[]string{"Sun, 01 Mar 2026 11:55:00 GMT"}, 360 * time.Second, 2 * time.Second},
		"ahead":           {[]string{"Sun, 01 Mar 2026 12:00:59 GMT"}, time.Second, 2 * time.Second},
		"a day off":       {[]string{"Sat, 28 Feb 2026 12:00:00 GMT"}, 24*time.Hour + time.Minute, 2 * time.Second},
		"more than a day": {[]string{"Sat, 28 Feb 2026 11:59:59 GMT"}, 60 * time.Second, time.Second},
		"epoch":           {[]string{"Thu, 01 Jan 1970 00:00:00 GMT"}, 60 * time.Second, time.Second},
		"broken":          {[]string{"yesterday"}, 60 * time.Second, time.Second},
		"broken first":    {[]string{"yesterday", "Sun, 01 Mar 2026 12:00:30 GMT"}, 30 * time.Second, 2 * time.Second},
	} {
		h := header("X-RateLimit-Reset: 1772366460")
		h["Date"] = c.dates
		q := Parse(h, 429, noon).Quotas[0]
		require.Equal(t, Some(c.want), q.Reset, name)
		require.Equal(t, c.grain, q.Grain, name)
	}
	h := http.Header{"date": {"Sun, 01 Mar 2026 12:00:30 GMT"}, "x-ratelimit-reset": {"1772366460"}}
	require.Equal(t, Some(30*time.Second), Parse(h, 200, noon).Quotas[0].Reset, "lower case, as HTTP/2 has it")
}
