package throttletest

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
)

// said is what the only announcement of a verdict says about the only limit.
func said(t *testing.T, v verdict) headers.Quota {
	t.Helper()
	require.Len(t, v.says, 1)
	require.Len(t, v.says[0].quotas, 1)
	return v.says[0].quotas[0]
}

func TestAnnouncedFigures(t *testing.T) {
	p := newPlay(t, WithLimits(FixedWindow(3, time.Minute).Named("core")), WithAnnounce(Announce{}))
	want := headers.Quota{
		Unit: budget.Requests, Name: "core", Limit: headers.Some(3.0), Remaining: headers.Some(2.0),
		Reset: headers.Some(60 * time.Second), Window: headers.Some(time.Minute),
	}
	assert.Equal(t, want, said(t, p.at(300*time.Millisecond, request("{}"))))
	want.Remaining.Value, want.Reset.Value = 1, 10*time.Second
	assert.Equal(t, want, said(t, p.at(50*time.Second, request("{}"))))
}

func TestRoundingOfResets(t *testing.T) {
	for name, c := range map[string]struct {
		a    Announce
		at   time.Duration // into a window of a minute
		want time.Duration
	}{
		"up":      {Announce{Round: Up}, 30600 * time.Millisecond, 30 * time.Second},
		"down":    {Announce{Round: Down}, 30600 * time.Millisecond, 29 * time.Second},
		"nearest": {Announce{Round: Nearest}, 30600 * time.Millisecond, 29 * time.Second},
		"and up":  {Announce{Round: Nearest}, 30400 * time.Millisecond, 30 * time.Second},
		"exact":   {Announce{Round: Exact}, 30599500 * time.Microsecond, 29401 * time.Millisecond},
		"usual":   {Announce{}, 30600 * time.Millisecond, 30 * time.Second},
		"OpenAI":  {Announce{Dialect: headers.OpenAI}, 30600 * time.Millisecond, 29400 * time.Millisecond},
		"whole":   {Announce{}, 30 * time.Second, 30 * time.Second},
	} {
		p := newPlay(t, WithLimits(FixedWindow(1, time.Minute)), WithAnnounce(c.a))
		assert.Equal(t, c.want, said(t, p.at(c.at, request("{}"))).Reset.Value, name)
	}
}

// TestMomentsAreRoundedAsMoments has an edge that does not lie on a whole second of the server's clock.
func TestMomentsAreRoundedAsMoments(t *testing.T) {
	for name, c := range map[string]struct {
		a    Announce
		skew time.Duration
		want time.Duration // from 0.3 s to the edge at 10.6 s, as it is told
	}{
		"up":               {Announce{Dialect: headers.XRateLimitEpoch}, 0, 10700 * time.Millisecond},
		"down":             {Announce{Dialect: headers.GitHub, Round: Down}, 0, 9700 * time.Millisecond},
		"nearest":          {Announce{Dialect: headers.Anthropic, Round: Nearest}, 0, 10700 * time.Millisecond},
		"nearest, skewed":  {Announce{Dialect: headers.Anthropic, Round: Nearest}, 700 * time.Millisecond, 10 * time.Second},
		"exact":            {Announce{Dialect: headers.XRateLimitMilli}, 0, 10300 * time.Millisecond},
		"not from a clock": {Announce{Dialect: headers.RateLimitTrio}, 700 * time.Millisecond, 11 * time.Second},
	} {
		p := newPlay(t, WithLimits(FixedWindow(1, time.Minute).WithPhase(10600*time.Millisecond)), WithAnnounce(c.a), WithClockSkew(c.skew))
		assert.Equal(t, c.want, said(t, p.at(300*time.Millisecond, request("{}"))).Reset.Value, name)
	}
}

func TestMeaningsOfReset(t *testing.T) {
	for meaning, want := range map[Meaning]time.Duration{
		UntilFull: 18 * time.Second, UntilNext: 6 * time.Second, UntilWindow: 37 * time.Second,
	} {
		p := newPlay(t, WithLimits(TokenBucket(10, time.Minute, 0)), WithAnnounce(Announce{Reset: meaning}))
		p.at(23*time.Second, request("{}"))
		p.at(23*time.Second, request("{}"))
		assert.Equal(t, want, said(t, p.at(23*time.Second, request("{}"))).Reset.Value)
	}
}

func TestRemainingMayBeFrozenOrCoarse(t *testing.T) {
	p := newPlay(t, WithLimits(FixedWindow(100, time.Hour)), WithAnnounce(Announce{Freeze: 10 * time.Second}),
		WithAnnounce(Announce{Grain: 40}))
	var frozen, coarse []float64
	for s := range 4 {
		for range 15 {
			p.at(time.Duration(s)*6*time.Second, request("{}"))
		}
		v := p.at(time.Duration(s)*6*time.Second, request("{}"))
		frozen = append(frozen, v.says[0].quotas[0].Remaining.Value)
		coarse = append(coarse, v.says[1].quotas[0].Remaining.Value)
	}
	assert.Equal(t, []float64{99, 99, 67, 67}, frozen)
	assert.Equal(t, []float64{80, 80, 40, 40}, coarse, "84, 68, 52 and 36 to the nearest 40")
}

func TestOccasionsOfHeaders(t *testing.T) {
	count := func(a Announce) (admitted, refused int) {
		p := newPlay(t, WithLimits(FixedWindow(500, time.Hour)), WithAnnounce(a))
		for range 1000 {
			v := p.at(0, request("{}"))
			if v.reason == Admitted {
				admitted += len(v.says)
			} else {
				refused += len(v.says)
			}
		}
		return admitted, refused
	}
	admitted, refused := count(Announce{})
	assert.Equal(t, []int{500, 500}, []int{admitted, refused})
	admitted, refused = count(Announce{On: OnRefusals})
	assert.Equal(t, []int{0, 500}, []int{admitted, refused})
	admitted, refused = count(Announce{Share: 0.4})
	assert.InDelta(t, 200, admitted, 50)
	assert.InDelta(t, 200, refused, 50)
	p := newPlay(t, WithLimits(FixedWindow(1, time.Hour)))
	assert.Empty(t, p.at(0, request("{}")).says, "nothing is announced unless it is ordered")
}

func TestWhatIsNotAnnounced(t *testing.T) {
	p := newPlay(t, WithAnnounce(Announce{NoWindow: true}), WithLimits(
		FixedWindow(5, time.Minute).Unannounced(), Concurrency(2), SlidingLog(7, time.Hour)))
	q := said(t, p.at(0, request("{}")))
	assert.Equal(t, 7.0, q.Limit.Value)
	assert.False(t, q.Window.Known)

	p = newPlay(t, WithAnnounce(Announce{}), WithLimits(TokenBucket(10, time.Second, 3)))
	assert.False(t, said(t, p.at(0, request("{}"))).Window.Known, "three in 0.3 s: no dialect says that")
}

func TestNamesOfResourcesAreAnnounced(t *testing.T) {
	any := func(*http.Request) bool { return true }
	p := newPlay(t, WithAnnounce(Announce{}), WithResource("search", any, FixedWindow(5, time.Minute)))
	assert.Equal(t, "search", said(t, p.at(0, request("{}"))).Name)
	p = newPlay(t, WithAnnounce(Announce{}), WithResource("search", any, FixedWindow(5, time.Minute).Named("own")))
	assert.Equal(t, "own", said(t, p.at(0, request("{}"))).Name)
}

func TestHints(t *testing.T) {
	clock := time.Date(2026, 3, 1, 12, 0, 0, 600e6, time.UTC)
	wait := 2300 * time.Millisecond // until 12:00:02.9
	for name, c := range map[string]struct {
		Hint
		Rounding
		want, millis string
	}{
		"seconds":      {HintSeconds, Usual, "3", ""},
		"down":         {HintSeconds, Down, "2", ""},
		"exact":        {HintSeconds, Exact, "2.3", ""},
		"date":         {HintDate, Usual, "Sun, 01 Mar 2026 12:00:03 GMT", ""},
		"date, down":   {HintDate, Down, "Sun, 01 Mar 2026 12:00:02 GMT", ""},
		"milliseconds": {HintMillis, Usual, "3", "2300"},
		"none":         {NoHint, Usual, "", ""},
	} {
		h := http.Header{}
		c.write(h, wait, c.Rounding, clock)
		assert.Equal(t, c.want, h.Get("Retry-After"), name)
		assert.Equal(t, c.millis, h.Get("Retry-After-Ms"), name)
	}
}

func TestASkewedServerIsWrongInAllItsMoments(t *testing.T) {
	u := NewUpstream(WithLimits(FixedWindow(1, 24*time.Hour)), WithClockSkew(-5*time.Minute), WithHint(HintDate, Up))
	post(t, u, chatURL, "{}")
	before := time.Now()
	resp, _ := post(t, u, chatURL, "{}")
	date, err := http.ParseTime(resp.Header.Get("Date"))
	require.NoError(t, err)
	assert.WithinRange(t, date, before.Add(-5*time.Minute-2*time.Second), time.Now().Add(-5*time.Minute))
	at, err := http.ParseTime(resp.Header.Get("Retry-After"))
	require.NoError(t, err)
	midnight := windowStart(before, 24*time.Hour, 0).Add(24 * time.Hour)
	assert.WithinDuration(t, midnight.Add(-5*time.Minute), at, time.Second)
}
