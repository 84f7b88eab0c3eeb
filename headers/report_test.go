package headers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHowLongToStayAway(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  Maybe[time.Duration]
	}{
		{
			"Retry-After first",
			[]string{"Retry-After: 16", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 63"},
			Some(16 * time.Second),
		},
		{
			"0 is an answer",
			[]string{"Retry-After: 0", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 63"},
			Some(time.Duration(0)),
		},
		{"the reset of what is exhausted, not the longest", []string{
			"X-RateLimit-Remaining-Requests: 14370", "X-RateLimit-Reset-Requests: 2m59.56s",
			"X-RateLimit-Remaining-Tokens: 0", "X-RateLimit-Reset-Tokens: 7.66s"}, Some(7660 * time.Millisecond)},
		{"the latest of the exhausted", []string{
			"X-RateLimit-Remaining-Requests: 0", "X-RateLimit-Reset-Requests: 1s",
			"X-RateLimit-Remaining-Tokens: 0", "X-RateLimit-Reset-Tokens: 6m0s"}, Some(6 * time.Minute)},
		{
			"a reset alone",
			[]string{"X-RateLimit-Reset-Requests: 1s", "X-RateLimit-Reset-Tokens: 6m0s"},
			Some(6 * time.Minute),
		},
		{
			"exhausted before alone",
			[]string{
				"X-RateLimit-Reset-Tokens: 6m0s",
				"X-RateLimit-Remaining-Requests: 0",
				"X-RateLimit-Reset-Requests: 1s",
			},
			Some(time.Second),
		},
		{
			"plenty left",
			[]string{
				"X-RateLimit-Limit: 5000",
				"X-RateLimit-Remaining: 14463",
				"X-RateLimit-Reset: 2100",
			},
			Maybe[time.Duration]{},
		},
		{
			"exhausted, no saying how long",
			[]string{"X-RateLimit-Remaining: 0"},
			Maybe[time.Duration]{},
		},
		{"nothing", nil, Maybe[time.Duration]{}},
	} {
		r := Parse(header(c.lines...), 429, noon)
		require.Equal(t, c.want, r.Wait(), c.name)
	}
}

func TestAddJoinsWhatIsOneQuota(t *testing.T) {
	var r Report
	r.Add(Quota{
		Limit:     Some(100.0),
		Remaining: Some(7.0),
		Reset:     Some(time.Second),
		Grain:     time.Second,
	})
	r.Add(Quota{
		Unit:      "requests",
		Limit:     Some(50.0),
		Remaining: Some(9.0),
		Reset:     Some(time.Minute),
	})
	r.Add(Quota{Unit: "requests", Window: Some(time.Minute), Limit: Some(1.0)})
	r.Add(Quota{Unit: "requests", Name: "x", Limit: Some(2.0)})
	r.Add(Quota{Unit: "requests", Partition: "QQ==", Limit: Some(3.0)})
	r.Add(Quota{Unit: "tokens", Limit: Some(4.0)})
	r.Add(Quota{Unit: "points", Name: "says nothing", Window: Some(time.Minute)})
	require.Equal(t, []string{
		`requests "" limit=1 window=1m0s`, `requests "" limit=50 left=7 reset=1m0s±0s`, `requests "" of QQ== limit=3`, `requests "x" limit=2`, `tokens "" limit=4`,
	}, show(r))
}

func TestAddKeepsTheReportBounded(t *testing.T) {
	var r Report
	for i := range 100 {
		r.Add(Quota{Unit: "tokens", Limit: Some(1.0), Window: Some(time.Duration(i + 1))})
	}
	require.Len(t, r.Quotas, 64)
	r.Add(Quota{Unit: "tokens", Limit: Some(0.5), Window: Some(time.Duration(1))})
	require.Equal(t, Some(0.5), r.Quotas[0].Limit, "what is there already is still joined")
}

func TestZeroValuesSayNothing(t *testing.T) {
	var r Report
	require.False(t, r.Wait().Known)
	require.False(t, (&Quota{}).tells())
	require.NotEqual(t, Some(0.0), Maybe[float64]{})
}
