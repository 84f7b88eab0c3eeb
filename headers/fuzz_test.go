package headers

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// FuzzParse feeds header blocks, written as on the wire, at any time.
func FuzzParse(f *testing.F) {
	for _, v := range vectors(f) {
		var block strings.Builder
		for _, line := range v.Headers {
			block.WriteString(line[0] + ": " + line[1] + "\n")
		}
		f.Add(block.String(), v.Status, v.ReceivedAt.Unix())
	}
	for name, h := range benchmarkAnswers() {
		var block strings.Builder
		require.NoError(f, h.Write(&block), name)
		f.Add(block.String(), 200, noon.Unix())
	}
	for _, lines := range longValues(300) {
		f.Add(strings.Join(lines, "\n"), 429, int64(0))
	}
	f.Fuzz(func(t *testing.T, block string, status int, unix int64) {
		canonical, asWritten := http.Header{}, http.Header{}
		for line := range strings.SplitSeq(block, "\n") {
			name, value, _ := strings.Cut(line, ":")
			canonical.Add(name, value)
			asWritten[name] = append(asWritten[name], value)
		}
		now := time.Unix(unix, 0)
		requireSameTwice(t, canonical, status, now)
		requireSameTwice(t, asWritten, status, now)
	})
}

// requireSameTwice reads an answer twice: in the random order of a map both readings must come out the same, unless there was
// more than a report holds.
func requireSameTwice(t *testing.T, h http.Header, status int, now time.Time) {
	t.Helper()
	first := Parse(h, status, now)
	requireSane(t, first)
	requireLength(t, first.Wait(), "Wait")
	second := Report{RetryAfter: Some(time.Hour), ShouldRetry: Some(true), Quotas: make([]Quota, 3, 10)}
	ParseInto(&second, h, status, now)
	if len(first.Quotas) < maxQuotas/2 {
		require.True(t, first.RetryAfter == second.RetryAfter && first.ShouldRetry == second.ShouldRetry)
		require.True(t, sameQuotas(first.Quotas, second.Quotas), "%v\n%v", first.Quotas, second.Quotas)
	}
}

// FuzzParseBody feeds bodies.
func FuzzParseBody(f *testing.F) {
	for _, v := range vectors(f) {
		if v.Body != "" {
			f.Add(v.Body, v.ReceivedAt.Unix())
		}
	}
	f.Add(`{"error":{"message":"Please try again in 6m0s.","metadata":{"headers":{"Retry-After":"5","X-RateLimit-Limit":"20"}}}}`, noon.Unix())
	f.Add(`{"error_code":429,"parameters":{"retry_after":35},"retryAfter":"1","retry_after_ms":2}`, noon.Unix())
	f.Fuzz(func(t *testing.T, body string, unix int64) {
		b := ParseBody([]byte(body), time.Unix(unix, 0))
		requireSane(t, Report{RetryAfter: b.RetryAfter, Quotas: b.Quotas})
		require.True(t, b.Throttled || !b.Hopeless, "hopeless, but no refusal")
		var r Report
		b.AddTo(&r)
		require.Equal(t, b.RetryAfter, r.RetryAfter)
		require.Len(t, r.Quotas, len(b.Quotas))
	})
}

// longValues are header lines of about n bytes each that invite a reader to look at everything again and again.
func longValues(n int) map[string][]string {
	again := func(s string) string { return strings.Repeat(s, n/len(s)) }
	return map[string][]string{
		"digits":          {"X-RateLimit-Limit: " + again("9"), "Retry-After: " + again("9"), "X-RateLimit-Reset: " + again("9")},
		"joined":          {"X-RateLimit-Limit: " + again("7, ") + "7", "X-RateLimit-Reset: " + again("30, ") + "30", "Retry-After: " + again("5, ") + "6"},
		"commas":          {"X-RateLimit-Limit: " + again(","), "X-RateLimit-Reset: " + again(", "), "Retry-After: " + again(",")},
		"nearly repeated": {"X-RateLimit-Limit: " + again("a,") + "b", "X-RateLimit-Reset: " + again("a, b, ") + "c", "Retry-After: " + again("1s,") + "2s"},
		"nested repeats":  {"X-RateLimit-Reset: " + again(",,") + again(" ,")},
		"semicolons":      {"RateLimit: " + again(";"), "RateLimit-Policy: a" + again(";a")},
		"items":           {"RateLimit: a" + again(",a;r=1"), "RateLimit-Policy: a" + again(",a;q=1;w=1")},
		"many names":      {"RateLimit: " + names(n, `;r=1`), "RateLimit-Policy: " + names(n, `;"x";q=1;w=1`)},
		"policies":        {"RateLimit-Limit: 1" + again(", 1;w=1"), "RateLimit-Policy: 1;w=1" + again(", 1;w=2")},
		"strings":         {`RateLimit: "` + again(`\"`) + `";r=1`, `RateLimit: "` + again("x"), `RateLimit: ` + again(`"x"`)},
		"inner lists":     {"RateLimit: " + again("("), "RateLimit: (" + again("a ") + ")", "RateLimit: a;b=" + again("(")},
		"display strings": {`RateLimit: a` + again(`;b=%"a"`), `RateLimit: a;b=%"` + again("%c3%bc") + `"`},
		"durations":       {"X-RateLimit-Reset-Tokens: " + again("1s"), "Retry-After: " + again("1ms")},
		"Salesforce":      {"Sforce-Limit-Info: " + again("a=1/2;")},
		"Azure":           {"X-Ms-RateLimit-Remaining-Resource: " + again("a;1,")},
		"Riot":            {"X-App-Rate-Limit: " + again("1:1,"), "X-App-Rate-Limit-Count: " + again("1:2,")},
		"Zendesk":         {"Zendesk-RateLimit-X: " + again("total=1;")},
		"Strava":          {"X-RateLimit-Limit: " + again("1,"), "X-RateLimit-Usage: " + again("1,")},
		"Meta":            {`X-Business-Use-Case-Usage: {"1":[` + again("{},") + `{}]}`, "X-App-Usage: " + again("[")},
	}
}

// names is a list of different names.
func names(n int, params string) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(`"n` + strings.Repeat("x", i%7) + count(Some(float64(i))) + `"` + params + ", ")
	}
	return b.String() + `"last"` + params
}

// A reader that looked at every byte for every byte would not come back from these while anybody waits.
func TestLongValuesAreReadInOnePass(t *testing.T) {
	for _, n := range []int{longestValue - 100, 1 << 20} {
		for _, lines := range longValues(n) {
			requireSane(t, Parse(header(lines...), 429, noon))
		}
	}
	body := `{"error":{"message":"` + strings.Repeat("try again in ", 5000) + `","code":429}}`
	require.True(t, ParseBody([]byte(body), noon).Throttled)
}

func TestWhatIsTooLongToBeRealIsNotRead(t *testing.T) {
	long := strings.Repeat(" ", longestValue)
	require.Empty(t, Parse(http.Header{"X-Ratelimit-Limit": {long + "5", "6"}, "X-Ratelimit-Limit-Tokens": {long + "5"}}, 200, noon).Quotas)
	require.Empty(t, Parse(http.Header{"X-Shopify-Shop-Api-Call-Limit": {long + "5/6"}}, 200, noon).Quotas)
	require.Equal(t, []string{`requests "" limit=5`}, show(Parse(http.Header{"X-Ratelimit-Limit": {"5", long}}, 200, noon)))

	h := http.Header{}
	for i := range 10000 {
		h.Set("X-RateLimit-Limit-Tokens-"+count(Some(float64(i))), "5")
	}
	r := Parse(h, 200, noon)
	requireSane(t, r)
	require.Len(t, r.Quotas, 64)
}

// BenchmarkLongValues shows the time per byte, which must not grow with the length.
func BenchmarkLongValues(b *testing.B) {
	for _, n := range []int{1 << 9, 1 << 11, 1 << 13} {
		var block []string
		for _, lines := range longValues(n) {
			block = append(block, lines...)
		}
		h := header(block...)
		b.Run(count(Some(float64(n))), func(b *testing.B) {
			b.SetBytes(int64(len(block) * n))
			for b.Loop() {
				sink = Parse(h, 200, noon)
			}
		})
	}
}
