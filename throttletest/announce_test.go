package throttletest

import (
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
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
	p := newPlay(t, WithLimits(FixedWindow(3, time.Minute).Named("core")),
		WithAnnounce(Announce{Dialect: headers.RateLimitList}))
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
	p := newPlay(t, WithDialect(headers.XRateLimit), WithLimits(
		FixedWindow(5, time.Minute).Unannounced(), Concurrency(2), SlidingLog(7, time.Hour)))
	assert.Equal(t, 7.0, said(t, p.at(0, request("{}"))).Limit.Value)
}

func TestListedLimitsHaveNames(t *testing.T) {
	limits := WithLimits(FixedWindow(5, time.Minute), SlidingLog(70, time.Hour), FixedWindow(9, time.Minute).Of(budget.Tokens).Named("mine"))
	var names []string
	for _, q := range newPlay(t, limits, WithDialect(headers.RateLimitList)).at(0, request("{}")).says[0].quotas {
		names = append(names, q.Name)
	}
	assert.Equal(t, []string{"requests-1m0s", "requests-1h0m0s", "mine"}, names)
	for _, q := range newPlay(t, limits, WithDialect(headers.RateLimitDict)).at(0, request("{}")).says[0].quotas[:2] {
		assert.Empty(t, q.Name)
	}
	alone := newPlay(t, WithLimits(FixedWindow(5, time.Minute)), WithDialect(headers.RateLimitList))
	assert.Empty(t, said(t, alone.at(0, request("{}"))).Name)
}

func TestWindowsAreTold(t *testing.T) {
	minute, hour := FixedWindow(5, time.Minute), SlidingLog(70, time.Hour)
	for name, c := range map[string]struct {
		a      Announce
		limits []Limit
		known  bool // of all
	}{
		"by policies":                       {Announce{Dialect: headers.RateLimitTrio}, []Limit{minute}, true},
		"unless they are left out":          {Announce{Dialect: headers.RateLimitTrio, NoWindow: true}, []Limit{minute}, false},
		"not in a name":                     {Announce{}, []Limit{minute, hour.Of("tokens"), hour.Named("x")}, false},
		"but where it tells limits apart":   {Announce{}, []Limit{minute, hour}, true},
		"even so it may be left out":        {Announce{NoWindow: true}, []Limit{minute, hour}, false},
		"never in fractions of a second":    {Announce{Dialect: headers.RateLimitDict}, []Limit{TokenBucket(10, time.Second, 3)}, false},
		"and a bucket's is how it fills up": {Announce{Dialect: headers.RateLimitDict}, []Limit{TokenBucket(10, time.Minute, 5)}, true},
	} {
		p := newPlay(t, WithLimits(c.limits...), WithAnnounce(c.a))
		for _, q := range p.at(0, request("{}")).says[0].quotas {
			assert.Equal(t, c.known, q.Window.Known, name)
		}
	}
}

func TestNamesOfResourcesAreAnnounced(t *testing.T) {
	any := func(*http.Request) bool { return true }
	p := newPlay(t, WithAnnounce(Announce{}), WithResource("search", any, FixedWindow(5, time.Minute)))
	assert.Equal(t, "search", said(t, p.at(0, request("{}"))).Name)
	p = newPlay(t, WithAnnounce(Announce{}), WithResource("search", any, FixedWindow(5, time.Minute).Named("own")))
	assert.Equal(t, "own", said(t, p.at(0, request("{}"))).Name)
}

// TestAnswersSayWhatTheServerMeans reads the headers of an answer that took 1.5 s, in every dialect, from a server whose clock is
// wrong: the edge of the window is where it was.
func TestAnswersSayWhatTheServerMeans(t *testing.T) {
	for d := headers.XRateLimit; d <= headers.Discord; d++ {
		for _, skew := range []time.Duration{0, -5*time.Minute - 300*time.Millisecond, 5*time.Minute + 700*time.Millisecond} {
			synctest.Test(t, func(t *testing.T) {
				u := NewUpstream(WithDialect(d), WithClockSkew(skew),
					WithLimits(FixedWindow(5, time.Minute).WithPhase(10600*time.Millisecond), FixedWindow(50, time.Minute).Of(budget.Tokens)),
					WithLatency(Latency{Network: 20 * time.Millisecond, Service: Constant(1500 * time.Millisecond)}))
				resp, _ := post(t, u, chatURL, "{}")
				report := headers.Parse(resp.Header, resp.StatusCode, time.Now())
				require.NotEmpty(t, report.Quotas)
				q := report.Quotas[slices.IndexFunc(report.Quotas, func(q headers.Quota) bool { return q.Unit == budget.Requests })]
				assert.Equal(t, headers.Some(5.0), q.Limit, d)
				assert.Equal(t, headers.Some(4.0), q.Remaining, d)
				require.True(t, q.Reset.Known, d)
				late := q.Reset.Value - time.Until(dawn.Add(10600*time.Millisecond))
				assert.Positive(t, late, d)
				assert.Less(t, late, 1520*time.Millisecond+time.Second, "%v: told on arrival and rounded up by less than a second", d)
			})
		}
	}
}

func TestDiscordTellsTheTimeFromNowToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(300 * time.Millisecond)
		u := NewUpstream(WithDialect(headers.Discord), WithClockSkew(500*time.Millisecond),
			WithLimits(FixedWindow(9, time.Hour).Of(budget.Tokens), FixedWindow(5, 10*time.Second).Named("abc")))
		resp, _ := post(t, u, chatURL, "{}")
		assert.Equal(t, "9.700", resp.Header.Get("X-Ratelimit-Reset-After"))
		assert.Equal(t, "946684810.500", resp.Header.Get("X-Ratelimit-Reset"))
		assert.Equal(t, "abc", resp.Header.Get("X-Ratelimit-Bucket"))

		u = NewUpstream(WithDialect(headers.Discord), WithLimits(FixedWindow(9, time.Hour).Of(budget.Tokens)))
		resp, _ = post(t, u, chatURL, "{}")
		assert.NotContains(t, resp.Header, "X-Ratelimit-Reset-After")
	})
}

func TestAMomentInThePastIsNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := NewUpstream(WithDialect(headers.XRateLimitEpoch), WithLimits(FixedWindow(5, time.Second)),
			WithLatency(Latency{Service: Constant(time.Minute)}))
		resp, _ := post(t, u, chatURL, "{}")
		assert.Equal(t, "946684860", resp.Header.Get("X-Ratelimit-Reset"), "the Date, as headers cannot say less")
	})
	p := newPlay(t, WithAnnounce(Announce{Dialect: headers.XRateLimitEpoch, Round: Down}),
		WithLimits(FixedWindow(1, time.Minute).WithPhase(600*time.Millisecond)))
	assert.Equal(t, headers.Some(time.Duration(0)), said(t, p.at(300*time.Millisecond, request("{}"))).Reset)
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

func TestACapIsAnnouncedIfAsked(t *testing.T) {
	p := newPlay(t, WithLimits(Concurrency(3).Announced()), WithAnnounce(Announce{Dialect: headers.RateLimitList}))
	want := headers.Quota{Unit: "concurrent-requests", Limit: headers.Some(3.0), Remaining: headers.Some(2.0)}
	assert.Equal(t, want, said(t, p.at(0, request("{}"))))

	u := NewUpstream(WithLimits(FixedWindow(5, time.Minute), Concurrency(3).Announced()), WithDialect(headers.RateLimitList))
	resp, err := u.RoundTrip(request("{}"))
	require.NoError(t, err)
	resp.Body.Close()
	assert.Contains(t, resp.Header.Get("Ratelimit-Policy"), `"concurrent-requests";q=3;qu="concurrent-requests"`)
}
