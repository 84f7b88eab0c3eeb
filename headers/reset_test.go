package headers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheValueDecidesWhatAResetMeans(t *testing.T) {
	for _, c := range []struct {
		text        string
		want, grain time.Duration
	}{
		{"30", 30 * time.Second, time.Second},
		{"0", 0, time.Second},
		{"0.5", 500 * time.Millisecond, 100 * time.Millisecond},
		{"1046073", 1046073 * time.Second, time.Second}, // RapidAPI, twelve days
		{"31622400", 366 * 24 * time.Hour, time.Second},
		{"1772366430", 30 * time.Second, time.Second},
		{"1772366430.25", 30250 * time.Millisecond, 10 * time.Millisecond},
		{"1772366430000", 30 * time.Second, 0},
		{"1772366430250", 30250 * time.Millisecond, 0},
		{"1772366430000000", 30 * time.Second, 0},
		{"1772366430000000000", 30 * time.Second, 0},
		{"1772366340", 0, time.Second}, // a minute ago
		{"1740830400", 0, time.Second}, // a year ago
		{"6m0s", 6 * time.Minute, time.Second},
		{"12ms", 12 * time.Millisecond, 0},
		{"Sun, 01 Mar 2026 12:00:30 GMT", 30 * time.Second, time.Second},
		{"2026-03-01T12:00:30.125Z", 30125 * time.Millisecond, 0},
		{"2026-03-01T12:01Z", time.Minute, time.Minute},
		{"2015-10-21T07:28:00Z", 0, time.Second}, // past is past, however far
		{"30, 30", 30 * time.Second, time.Second},
		{"6m0s,6m0s , 6m0s", 6 * time.Minute, time.Second},
		{"1772366430000000, 1772366430000000", 30 * time.Second, 0},
		{"Sun, 01 Mar 2026 12:00:30 GMT, Sun, 01 Mar 2026 12:00:30 GMT", 30 * time.Second, time.Second},
		{"30;w=60", 30 * time.Second, time.Second},
	} {
		rd := reading{now: noon, unit: time.Second}
		got, grain, ok := rd.resetOf(c.text)
		require.True(t, ok, c.text)
		require.Equal(t, c.want, got, c.text)
		require.Equal(t, c.grain, grain, c.text)
	}
}

func TestAResetWithoutACertainMeaningIsUnknown(t *testing.T) {
	for _, text := range []string{
		"",
		"-5",
		"abc",
		"99999999999999999999",
		"4102444800",
		"31622401",
		"253402300799",
		"1e9",
		"30, 45",
		"5, 5 apples",
		"Tue Feb 16 2021 09:02:42 GMT+0100 (Central European Standard Time)",
		"2028-03-01T12:00:00Z",
		",",
		", ",
		"30,",
	} {
		require.False(t, ParseReset(text, nil, noon).Known, text)
	}
}

// A cut at a magnitude would misread these: virtual clocks start anywhere.
func TestEpochsAreReadByTheirDistanceFromNow(t *testing.T) {
	for _, now := range []time.Time{
		time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), // where the clock of a synctest bubble starts
		time.Date(1973, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Unix(1800000000, 0),
	} {
		at := now.Add(30 * time.Second)
		for _, n := range []int64{at.Unix(), at.UnixMilli(), at.UnixMicro()} {
			text := count(Some(float64(n)))
			require.Equal(t, Some(30*time.Second), ParseReset(text, nil, now), "%s at %v", text, now)
		}
	}
}

func TestAClockBeyondReasonDoesNoHarm(t *testing.T) {
	for _, now := range []time.Time{{}, time.Unix(-1<<40, 0), time.Unix(1<<40, 999999999)} {
		for _, text := range []string{
			"1772366430",
			"1772366430000",
			"9999999999999999999",
			"Sun, 01 Mar 2026 12:00:30 GMT",
			"2026-03-01T12:00:30Z",
		} {
			d := ParseReset(text, nil, now)
			requireLength(t, d, text)
		}
	}
}

func TestAHookReadsItsOwnHeader(t *testing.T) {
	h := header("Date: Sun, 01 Mar 2026 11:55:00 GMT")
	require.Equal(t, Some(time.Minute), ParseReset(" 1772366160 ", h, noon))
	require.Equal(t, Some(time.Minute), ParseWait([]string{"1", "Sun, 01 Mar 2026 11:56:00 GMT", "junk"}, h, noon))
	require.Equal(t, Some(250*time.Millisecond), ParseWait([]string{"250ms"}, nil, noon))
	require.False(t, ParseWait(nil, nil, noon).Known)
}

func TestAHostCanSayThatItsResetsAreMilliseconds(t *testing.T) {
	h := header("X-Rate-Limit-Limit: 10000", "X-Rate-Limit-Remaining: 0", "X-Rate-Limit-Reset: 600000", "Retry-After: 7")
	for name, c := range map[string]struct {
		hosts []string
		want  time.Duration
	}{
		"everywhere":   {nil, 10 * time.Minute},
		"this host":    {[]string{"other.example", "api.example"}, 10 * time.Minute},
		"another host": {[]string{"other.example"}, 600000 * time.Second},
	} {
		r := Parse(h, 429, noon)
		ResetsIn(time.Millisecond, c.hosts...)(&r, answerOf("https://api.example:8080/x", h), nil)
		require.Equal(t, Some(c.want), r.Quotas[0].Reset, name)
		require.Equal(t, Some(7*time.Second), r.RetryAfter, name)
	}
}

func TestAnOverrideLeavesMomentsAlone(t *testing.T) {
	h := header("Date: "+time.Now().UTC().Format(time.RFC1123), "X-RateLimit-Limit-Tokens: 5", "X-RateLimit-Reset-Tokens: 6m0s")
	var r Report
	ResetsIn(time.Millisecond)(&r, answerOf("https://api.example/", h), nil)
	require.Equal(t, []string{`tokens "" limit=5 reset=6m0s±1s`}, show(r))

	h = header("X-RateLimit-Reset: 40000000") // eleven hours of milliseconds, too long for seconds
	require.Empty(t, Parse(h, 200, noon).Quotas)
	ResetsIn(time.Millisecond)(&r, answerOf("https://api.example/", h), nil)
	require.Equal(t, []string{`requests "" reset=11h6m40s±0s`}, show(r))

	ResetsIn(-1)(&r, answerOf("", header("X-RateLimit-Reset: 30")), nil)
	require.Equal(t, []string{`requests "" reset=30s±1s`}, show(r))
	ResetsIn(time.Millisecond, "api.example")(&r, answerOf("", header("X-RateLimit-Reset: 30")), nil)
	require.Equal(t, []string{`requests "" reset=30s±1s`}, show(r), "an answer without a request is of no host")
}
