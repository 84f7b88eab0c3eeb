package budget_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed-18ca0a92/throttle/budget"
)

func TestParsePolicyReadsWhatPeopleWrite(t *testing.T) {
	minute, tokens := budget.PerMinute(500), budget.PerMinute(200_000).Of(budget.Tokens)
	hundred := func(window time.Duration) budget.Policy { return budget.Policy{Limit: 100, Window: window} }
	for text, want := range map[string]budget.Policy{
		"500/minute":         minute,
		"  500 / minute ":    minute,
		"500 per minute":     minute,
		"500 PER Minute":     minute,
		"500/min":            minute,
		"500/m":              minute,
		"500/60s":            minute,
		"0.5k/mins":          minute,
		"500 rpm":            minute.Of(budget.Requests),
		"10/s":               budget.PerSecond(10),
		"10/sec":             budget.PerSecond(10),
		"10 QPS":             budget.PerSecond(10).Of(budget.Requests),
		"5000/hour":          budget.PerHour(5000),
		"5,000/hr":           budget.PerHour(5000),
		"1000/d":             budget.PerDay(1000),
		"1000 per day":       budget.PerDay(1000),
		"1e3/24h":            budget.PerDay(1000),
		"100/10s":            hundred(10 * time.Second),
		"100/10 seconds":     hundred(10 * time.Second),
		"100 per 5m":         hundred(5 * time.Minute),
		"100/1h30m":          hundred(90 * time.Minute),
		"100/500ms":          hundred(500 * time.Millisecond),
		"100/7d":             hundred(7 * 24 * time.Hour),
		"100/week":           hundred(7 * 24 * time.Hour),
		"100/30 days":        hundred(30 * 24 * time.Hour),
		"0.0167/second":      budget.PerSecond(0.0167),
		"1/second burst 1":   budget.PerSecond(1).WithBurst(1),
		"10/second burst 20": budget.PerSecond(10).WithBurst(20),

		"200000 tokens/minute":              tokens,
		"200_000 tokens per min":            tokens,
		"200k tokens/minute":                tokens,
		"200k TPM":                          tokens,
		"200k token/minute":                 tokens,
		"200k Tokens/minute":                tokens,
		`200k "Tokens"/minute`:              budget.PerMinute(200_000).Of("Tokens"),
		"5 req/minute":                      budget.PerMinute(5).Of(budget.Requests),
		"5 Requests/minute":                 budget.PerMinute(5).Of(budget.Requests),
		"1.5M output_tokens/day":            budget.PerDay(1.5e6).Of(budget.OutputTokens),
		"1,234,567.5 dollars/day":           budget.PerDay(1234567.5).Of("dollars"),
		`5 "weird unit/with slash"/minute`:  budget.PerMinute(5).Of("weird unit/with slash"),
		`5 "rpm"/minute`:                    budget.PerMinute(5).Of("rpm"),
		"1000/day fixed-window":             budget.PerDay(1000).Using(budget.FixedWindow),
		"1000/day FixedWindow name daily":   {Name: "daily", Limit: 1000, Window: 24 * time.Hour, Algorithm: budget.FixedWindow},
		`60/minute auto name "free tier"`:   {Name: "free tier", Limit: 60, Window: time.Minute},
		"60/minute token_bucket Burst 1k":   budget.PerMinute(60).WithBurst(1000).Using(budget.TokenBucket),
		`60/minute name "sliding-log"`:      {Name: "sliding-log", Limit: 60, Window: time.Minute},
		`60/minute name burst leaky-bucket`: {Name: "burst", Limit: 60, Window: time.Minute, Algorithm: budget.LeakyBucket},
		"1/day fixed-window anchor 2026-01-01T00:00:00Z": {
			Limit: 1, Window: 24 * time.Hour, Algorithm: budget.FixedWindow, Anchor: midnight},
	} {
		t.Run(text, func(t *testing.T) {
			got, err := budget.ParsePolicy(text)
			require.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
}

func TestParsePolicySaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                               `budget: "": "" is no amount: write it like "500/minute"`,
		"minute":                         `"minute" is no amount`,
		"five/minute":                    `"five" is no amount`,
		"1,00/minute":                    `"1,00" is no amount`,
		"500":                            "no window after the limit: write it like",
		"500 tokens":                     `"" stands where / or per should`,
		"500 tokens minute":              `"minute" stands where / or per should`,
		"500/":                           `"" is no window: use second, minute, hour, day, week, or a length such as 10s, 5m, 7d`,
		"500/month":                      `"month" is no window`,
		"500/fortnight":                  `"fortnight" is no window`,
		"500/10":                         `"10" is no window`,
		"500/99999999999999999999 days":  "a window of 99999999999999999999 times day is too long",
		"500/9999999999 days":            "a window of 9999999999 times day is too long: use at most 36600 days",
		"500/minute burst":               `"" is no amount`,
		"500/minute burst many":          `"many" is no amount`,
		"500/minute quickly":             `"quickly" is neither burst, anchor, name nor an algorithm (auto, token-bucket`,
		`500/minute "sliding-log"`:       `"sliding-log" is neither`,
		"500/minute fixed window":        `"fixed" is neither`,
		`500/minute name "open`:          "close the quote",
		"500/minute name":                "no word after name",
		"1/day fixed-window anchor noon": `"noon" is no moment: write it like 2026-01-01T05:00:00Z`,
		"0/minute":                       "Limit is 0",
		"NaN/minute":                     "Limit is NaN",
		"Inf/minute":                     "Limit is +Inf",
		"-5/minute":                      "Limit is -5",
		"5/minute burst 0.5":             "Burst is 0.5",
		"5/minute leaky-bucket burst 2":  "leaky-bucket has no Burst",
		"5/minute burst 2 burst 3":       "burst is said twice",
		"5/minute auto sliding-log":      "the algorithm is said twice",
	} {
		t.Run(text, func(t *testing.T) {
			p, err := budget.ParsePolicy(text)
			require.ErrorContains(t, err, want)
			assert.ErrorContains(t, err, "budget: ")
			assert.Zero(t, p)
		})
	}
}

func TestStringIsShort(t *testing.T) {
	for want, p := range map[string]budget.Policy{
		"500/minute":                 budget.PerMinute(500),
		"200000 tokens/minute":       budget.PerMinute(200_000).Of(budget.Tokens),
		"10/second burst 20":         budget.PerSecond(10).WithBurst(20),
		"0.0167/second token-bucket": budget.PerSecond(0.0167).Using(budget.TokenBucket),
		"5000/hour":                  budget.PerHour(5000),
		"1/day fixed-window anchor 2025-12-31T23:00:00Z": {Limit: 1, Window: 24 * time.Hour, Algorithm: budget.FixedWindow, Anchor: midnight.In(time.FixedZone("", 3600)).Add(-time.Hour)},
		"100/7d":                  {Limit: 100, Window: 7 * 24 * time.Hour},
		"100/10s":                 {Limit: 100, Window: 10 * time.Second},
		"100/5m":                  {Limit: 100, Window: 5 * time.Minute},
		"100/3h":                  {Limit: 100, Window: 3 * time.Hour},
		"100/1h0m1s":              {Limit: 100, Window: time.Hour + time.Second},
		"100/1m30s":               {Limit: 100, Window: 90 * time.Second},
		"100/second name daily":   {Name: "daily", Limit: 100, Window: time.Second},
		`1/second name "a \"b\""`: {Name: `a "b"`, Limit: 1, Window: time.Second},
		`1 "per"/second`:          budget.PerSecond(1).Of("per"),
		`1 "TPM"/second`:          budget.PerSecond(1).Of("TPM"),
	} {
		assert.Equal(t, want, p.String())
		back, err := budget.ParsePolicy(want)
		require.NoError(t, err)
		assert.Equal(t, want, back.String())
	}
}

// Any valid policy comes back from its text as it was, its anchor in UTC.
func TestTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SampledFrom(algorithms).Draw(t, "algorithm")
		p := rapid.OneOf(anyPolicy(a), smallPolicy(a)).Draw(t, "policy")
		p.Name = rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"burst", "per", "/", "\xff", "a b", `"`})).Draw(t, "name")
		p.Unit = rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"rpm", "per", "tokens", "/", "10", "\n"})).Draw(t, "unit")
		if a == budget.FixedWindow {
			p.Anchor = time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "anchor"), rapid.Int64Range(0, 1e9-1).Draw(t, "nanos")).UTC()
		}
		text, err := p.MarshalText()
		require.NoError(t, err)
		var back budget.Policy
		require.NoError(t, back.UnmarshalText(text), "%s", text)
		require.Equal(t, p, back, "%s", text)
	})
}

func TestPoliciesAreTextInJSON(t *testing.T) {
	type tier struct {
		Policies []budget.Policy
		Count    budget.Algorithm
	}
	free := tier{[]budget.Policy{budget.PerMinute(3), budget.PerDay(200).Using(budget.FixedWindow)}, budget.SlidingLog}
	text, err := json.Marshal(free)
	require.NoError(t, err)
	assert.JSONEq(t, `{"Policies": ["3/minute", "200/day fixed-window"], "Count": "sliding-log"}`, string(text))
	var back tier
	require.NoError(t, json.Unmarshal(text, &back))
	assert.Equal(t, free, back)

	_, err = json.Marshal(budget.Policy{})
	assert.ErrorContains(t, err, "Limit is 0")
	unchanged := budget.PerDay(1)
	assert.Error(t, unchanged.UnmarshalText([]byte("1/eternity")))
	assert.Equal(t, budget.PerDay(1), unchanged)
}

// FuzzParsePolicy: no text panics, and what is read is valid and survives being written.
func FuzzParsePolicy(f *testing.F) {
	for _, s := range []string{
		"500/minute", "200_000 tokens/min burst 1k", "1000/day fixed-window anchor 2026-01-01T05:00:00Z",
		`5 "a\x00b"/7d name "x y"`, "500 rpm", "100 per 10 seconds", "1/0s", "//", `"`, "1/1w", "5,000,000/h", "1e400/s", "1/9223372036854775807d", "1/\x8a",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := budget.ParsePolicy(s)
		if err != nil {
			require.Zero(t, p)
			return
		}
		require.NoError(t, p.Validate())
		_, err = budget.New(p)
		require.NoError(t, err)
		back, err := budget.ParsePolicy(p.String())
		require.NoError(t, err, "%q became %q", s, p)
		require.True(t, p.Anchor.Equal(back.Anchor))
		p.Anchor, back.Anchor = time.Time{}, time.Time{}
		require.Equal(t, p, back)
	})
}
