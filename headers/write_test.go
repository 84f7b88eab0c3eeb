package headers

import (
	"fmt"
	"math"
	"net/http"
	"sort"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const noonDate = "Date: Sun, 01 Mar 2026 12:00:00 GMT"

// written is what Write sets, as sorted lines without the Date.
func written(d Dialect, q ...Quota) []string {
	h := header(noonDate)
	Write(h, q, d)
	h.Del("Date")
	lines := []string{}
	for name, values := range h {
		lines = append(lines, name+": "+strings.Join(values, " | "))
	}
	sort.Strings(lines)
	return lines
}

// state is the same in every dialect's sample below.
var state = Quota{
	Unit:      "requests",
	Limit:     Some(100.0),
	Remaining: Some(50.0),
	Reset:     Some(29500 * time.Millisecond),
	Window:    Some(time.Minute),
}

func with(q Quota, edit func(*Quota)) Quota {
	edit(&q)
	return q
}

func TestEachDialectIsWrittenAsItsServersWriteIt(t *testing.T) {
	core := with(state, func(q *Quota) { q.Name, q.Window = "core", Maybe[time.Duration]{} })
	for _, c := range []struct {
		dialect Dialect
		quotas  []Quota
		want    []string
	}{
		{
			XRateLimit,
			[]Quota{state},
			[]string{
				"X-Ratelimit-Limit: 100",
				"X-Ratelimit-Period: 60",
				"X-Ratelimit-Remaining: 50",
				"X-Ratelimit-Reset: 30",
			},
		},
		{
			XRateLimitEpoch,
			[]Quota{core},
			[]string{
				"X-Ratelimit-Limit: 100",
				"X-Ratelimit-Name: core",
				"X-Ratelimit-Remaining: 50",
				"X-Ratelimit-Reset: 1772366430",
			},
		},
		{
			XRateLimitMilli,
			[]Quota{state},
			[]string{
				"X-Ratelimit-Limit: 100",
				"X-Ratelimit-Period: 60",
				"X-Ratelimit-Remaining: 50",
				"X-Ratelimit-Reset: 1772366429500",
			},
		},
		{
			RateLimitTrio,
			[]Quota{state},
			[]string{
				"Ratelimit-Limit: 100",
				"Ratelimit-Policy: 100;w=60",
				"Ratelimit-Remaining: 50",
				"Ratelimit-Reset: 30",
			},
		},
		{
			RateLimitDict,
			[]Quota{state},
			[]string{"Ratelimit-Policy: 100;w=60", "Ratelimit: limit=100, remaining=50, reset=30"},
		},
		{
			RateLimitList,
			[]Quota{core, state},
			[]string{
				`Ratelimit-Policy: "core";q=100, "default";q=100;w=60`,
				`Ratelimit: "core";r=50;t=30, "default";r=50;t=30`,
			},
		},
		{OpenAI, []Quota{core, with(state, func(q *Quota) { q.Unit, q.Window = "tokens", Maybe[time.Duration]{} })}, []string{
			"X-Ratelimit-Limit-Core-Requests: 100", "X-Ratelimit-Limit-Tokens: 100", "X-Ratelimit-Remaining-Core-Requests: 50",
			"X-Ratelimit-Remaining-Tokens: 50", "X-Ratelimit-Reset-Core-Requests: 29.5s", "X-Ratelimit-Reset-Tokens: 29.5s"}},
		{Anthropic, []Quota{core, with(core, func(q *Quota) { q.Unit, q.Name = "input_tokens", "" })}, []string{
			"Anthropic-Core-Requests-Limit: 100", "Anthropic-Core-Requests-Remaining: 50", "Anthropic-Core-Requests-Reset: 2026-03-01T12:00:30Z",
			"Anthropic-Ratelimit-Input-Tokens-Limit: 100", "Anthropic-Ratelimit-Input-Tokens-Remaining: 50", "Anthropic-Ratelimit-Input-Tokens-Reset: 2026-03-01T12:00:30Z"}},
		{
			GitHub,
			[]Quota{core},
			[]string{
				"X-Ratelimit-Limit: 100",
				"X-Ratelimit-Remaining: 50",
				"X-Ratelimit-Reset: 1772366430",
				"X-Ratelimit-Resource: core",
				"X-Ratelimit-Used: 50",
			},
		},
		{
			Discord,
			[]Quota{core},
			[]string{
				"X-Ratelimit-Bucket: core",
				"X-Ratelimit-Limit: 100",
				"X-Ratelimit-Remaining: 50",
				"X-Ratelimit-Reset-After: 29.500",
				"X-Ratelimit-Reset: 1772366429.500",
			},
		},
	} {
		require.Equal(t, c.want, written(c.dialect, c.quotas...), "dialect %d", c.dialect)
	}
}

func TestFurtherQuotasAreToldApartWhereTheDialectCan(t *testing.T) {
	hour := Quota{
		Unit:      "requests",
		Limit:     Some(1000.0),
		Remaining: Some(900.0),
		Window:    Some(time.Hour),
	}
	require.Equal(t, []string{"X-Ratelimit-Limit-Requests-Hour: 1000", "X-Ratelimit-Limit: 100", "X-Ratelimit-Period: 60", "X-Ratelimit-Remaining-Requests-Hour: 900",
		"X-Ratelimit-Remaining: 50", "X-Ratelimit-Reset: 30"}, written(XRateLimit, state, hour))
	require.Contains(t, written(RateLimitTrio, state, hour), "Ratelimit-Policy: 100;w=60, 1000;w=3600")
	require.Contains(t, written(RateLimitDict, state, with(hour, func(q *Quota) { q.Name = `a"b` })), `Ratelimit-Policy: 100;w=60, 1000;w=3600;name="a\"b"`)
}

func TestWhatADialectCannotSayIsLeftOut(t *testing.T) {
	for name, got := range map[string][]string{
		"nothing":               written(XRateLimit),
		"an unknown dialect":    written(Dialect(99), state),
		"nothing known":         written(OpenAI, Quota{Unit: "tokens"}),
		"a unit without a word": written(OpenAI, Quota{Unit: "points", Limit: Some(5.0)}),
		"a name that is a unit": written(OpenAI, Quota{
			Unit:  "tokens",
			Name:  "input",
			Limit: Some(5.0),
		}),
		"a name with capitals": written(OpenAI, Quota{
			Unit:  "tokens",
			Name:  "Project",
			Limit: Some(5.0),
		}),
		"a name that is no token": written(OpenAI, Quota{
			Unit:  "tokens",
			Name:  "a b",
			Limit: Some(5.0),
		}),
		"a name that splits": written(Anthropic, Quota{
			Unit:  "tokens",
			Name:  "a-b",
			Limit: Some(5.0),
		}),
		"a window without a word": written(OpenAI, Quota{
			Unit:   "tokens",
			Window: Some(time.Minute + 1),
			Limit:  Some(5.0),
		}),
		"no requests to tell": written(GitHub, Quota{Unit: "tokens", Limit: Some(5.0)}),
		"nor for Discord":     written(Discord, Quota{Unit: "tokens", Limit: Some(5.0)}),
		"nor for the trio": written(RateLimitTrio, Quota{
			Unit:  "tokens",
			Limit: Some(5.0),
		}),
		"nor for the dictionary": written(RateLimitDict, Quota{
			Unit:  "tokens",
			Limit: Some(5.0),
		}),
		"a name that is no string": written(RateLimitList, Quota{
			Name:  "défaut",
			Limit: Some(5.0),
		}),
		"absurd counts": written(XRateLimit, Quota{
			Limit:     Some(-1.0),
			Remaining: Some(math.NaN()),
		}, Quota{Unit: "tokens", Limit: Some(math.Inf(1)), Remaining: Some(1e300)}),
		"absurd counts, structured": written(RateLimitDict, Quota{
			Limit:     Some(-1.0),
			Remaining: Some(1e15),
		}),
		"absurd resets":  written(XRateLimit, Quota{Reset: Some(-time.Second)}, Quota{Unit: "tokens", Reset: Some(longest + 1)}),
		"absurd windows": written(XRateLimit, Quota{Window: Some(-time.Second)}),
	} {
		require.Empty(t, got, name)
	}
}

func TestWritingRoundsUpAndNeverDown(t *testing.T) {
	reset := func(d Dialect, r time.Duration) string {
		h := header(noonDate)
		Write(h, []Quota{{Unit: "requests", Reset: Some(r)}}, d)
		for name := range h {
			if strings.Contains(name, "Reset") && name != "X-Ratelimit-Reset-After" {
				return h.Get(name)
			}
		}
		return ""
	}
	require.Equal(t, "1", reset(XRateLimit, 1))
	require.Equal(t, "0", reset(XRateLimit, 0))
	require.Equal(t, "1772366401", reset(XRateLimitEpoch, 1))
	require.Equal(t, "1772366400001", reset(XRateLimitMilli, 1))
	require.Equal(t, "1ms", reset(OpenAI, 1))
	require.Equal(t, "0s", reset(OpenAI, 0))
	require.Equal(t, "8784h0m0s", reset(OpenAI, longest))
	require.Equal(t, "2026-03-01T12:00:01Z", reset(Anthropic, 1))
	require.Equal(t, "1772366400.001", reset(Discord, 1))
}

func TestRetryAfterIsWrittenInThreeForms(t *testing.T) {
	for _, c := range []struct {
		wait time.Duration
		form WaitForm
		want map[string]string
	}{
		{1500 * time.Millisecond, WaitSeconds, map[string]string{"Retry-After": "2"}},
		{
			1500*time.Millisecond + 1,
			WaitMilli,
			map[string]string{"Retry-After": "2", "Retry-After-Ms": "1501"},
		},
		{
			1500 * time.Millisecond,
			WaitDate,
			map[string]string{"Retry-After": "Sun, 01 Mar 2026 12:00:02 GMT"},
		},
		{-time.Second, WaitSeconds, map[string]string{"Retry-After": "0"}},
		{-time.Second, WaitDate, map[string]string{"Retry-After": "Sun, 01 Mar 2026 12:00:00 GMT"}},
		{0, WaitMilli, map[string]string{"Retry-After": "0", "Retry-After-Ms": "0"}},
	} {
		h := header(noonDate)
		WriteRetryAfter(h, c.wait, c.form)
		h.Del("Date")
		want := http.Header{}
		for name, value := range c.want {
			want.Set(name, value)
		}
		require.Equal(t, want, h)
	}
}

func TestWithoutADateMomentsCountFromNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a clock that stands still
		for _, d := range []Dialect{XRateLimitEpoch, XRateLimitMilli, Anthropic, GitHub} {
			h := http.Header{}
			Write(h, []Quota{{Unit: "requests", Reset: Some(90 * time.Second)}}, d)
			require.Equal(t, Some(90*time.Second), Parse(h, 200, time.Now()).Quotas[0].Reset, d)
		}
		h := http.Header{}
		WriteRetryAfter(h, time.Minute, WaitDate)
		require.Equal(t, Some(time.Minute), Parse(h, 200, time.Now()).RetryAfter)
	})
}

// In every dialect, what was written is read back, for all that the dialect can say.
func TestParseOfWriteIsTheSame(t *testing.T) {
	for d, says := range dialectsSay {
		t.Run(fmt.Sprint("dialect ", d), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				h := header(noonDate)
				want := says.draw(t)
				Write(h, want, d)
				got := Parse(h, 200, noon)
				require.ElementsMatch(t, want, withoutGrain(got.Quotas), "%v", h)
			})
		})
	}
}

// vocabulary is what a dialect can say.
type vocabulary struct {
	units, names []string
	windows      []time.Duration
	step         time.Duration // of resets
	whole        bool          // counts have no fractions
	several      bool
	partitions   []string
}

var (
	words       = []time.Duration{0, time.Second, time.Minute, time.Hour, day}
	anyWindow   = []time.Duration{0, time.Second, 15 * time.Minute, day, longest}
	anyName     = []string{"", "core", "issueCreate", "per-ip", "5/hour"}
	aiUnits     = []string{"requests", "tokens", "input_tokens", "output_tokens", "complexity"}
	dialectsSay = map[Dialect]vocabulary{
		XRateLimit: {
			units:   []string{"requests"},
			names:   anyName,
			windows: anyWindow,
			step:    time.Second,
		},
		XRateLimitEpoch: {
			units:   []string{"requests"},
			names:   anyName,
			windows: anyWindow,
			step:    time.Second,
		},
		XRateLimitMilli: {
			units:   []string{"requests"},
			names:   anyName,
			windows: anyWindow,
			step:    time.Millisecond,
		},
		RateLimitTrio: {
			units:   []string{"requests"},
			names:   anyName,
			windows: anyWindow,
			step:    time.Second,
			whole:   true,
		},
		RateLimitDict: {
			units:   []string{"requests"},
			names:   anyName,
			windows: anyWindow,
			step:    time.Second,
			whole:   true,
		},
		RateLimitList: {units: []string{"requests", "tokens", "bytes", `odd"\unit`}, names: []string{"core", "per ip", `odd"\name`}, windows: anyWindow,
			step: time.Second, whole: true, several: true, partitions: []string{
				"",
				"QQ==",
				"Qg==",
			}},
		OpenAI: {
			units:   aiUnits,
			names:   []string{"", "project", "free-plan", "usage_based"},
			windows: words,
			step:    time.Millisecond,
			several: true,
		},
		Anthropic: {
			units:   aiUnits,
			names:   []string{"", "priority", "fast"},
			windows: []time.Duration{0},
			step:    time.Second,
			several: true,
		},
		GitHub: {
			units:   []string{"requests"},
			names:   anyName,
			windows: []time.Duration{0},
			step:    time.Second,
		},
		Discord: {
			units:   []string{"requests"},
			names:   anyName,
			windows: []time.Duration{0},
			step:    time.Millisecond,
		},
	}
)

func (v vocabulary) draw(t *rapid.T) []Quota {
	most := 1
	if v.several {
		most = 6
	}
	quotas := rapid.SliceOfNDistinct(rapid.Custom(v.quota), 1, most, func(q Quota) string {
		return fmt.Sprint(q.Unit, "\x00", q.Name, "\x00", q.Partition, "\x00", q.Window)
	}).Draw(t, "quotas")
	if v.partitions == nil {
		return quotas
	}
	return distinctNames(quotas)
}

func (v vocabulary) quota(t *rapid.T) Quota {
	q := Quota{
		Unit: rapid.SampledFrom(v.units).Draw(t, "unit"),
		Name: rapid.SampledFrom(v.names).Draw(t, "name"),
	}
	if len(v.partitions) > 0 {
		q.Partition = rapid.SampledFrom(v.partitions).Draw(t, "partition")
	}
	if w := rapid.SampledFrom(v.windows).Draw(t, "window"); w > 0 {
		q.Window = Some(w)
	}
	facts := rapid.IntRange(1, 7).Draw(t, "facts")
	if facts&1 != 0 || q.Window.Known && v.whole || v.partitions != nil { // a policy has a limit
		q.Limit = Some(v.count(t, "limit"))
	}
	if facts&2 != 0 {
		q.Remaining = Some(v.count(t, "remaining"))
	}
	if facts&4 != 0 {
		steps := rapid.Int64Range(0, int64(longest/v.step)).Draw(t, "reset")
		q.Reset = Some(time.Duration(steps) * v.step)
	}
	return q
}

func (v vocabulary) count(t *rapid.T, label string) float64 {
	n := float64(rapid.Uint64Range(0, 1e15-1).Draw(t, label))
	if !v.whole {
		n /= float64(rapid.SampledFrom([]int{1, 4, 100}).Draw(t, "fraction"))
	}
	return n
}

// distinctNames keeps of each name what structured fields can tell apart: all partitions of it, or none.
func distinctNames(quotas []Quota) []Quota {
	kept := []Quota{}
	for _, q := range quotas {
		clash := false
		for _, k := range kept {
			clash = clash || k.Name == q.Name && (k.Partition == q.Partition || k.Partition == "" || q.Partition == "")
		}
		if !clash {
			kept = append(kept, q)
		}
	}
	return kept
}

func withoutGrain(quotas []Quota) []Quota {
	out := []Quota{}
	for _, q := range quotas {
		q.Grain = 0
		out = append(out, q)
	}
	return out
}
