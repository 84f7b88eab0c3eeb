package results

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/batchfile"
)

func earlierOf(t *testing.T, contents string, since time.Time) *Earlier {
	t.Helper()
	e, err := readEarlier(batchfile.NewLines(strings.NewReader(contents), MaxLine), since)
	require.NoError(t, err)
	return e
}

func TestVerdictOfAStatus(t *testing.T) {
	for status, want := range map[int]Verdict{
		200: Answered, 201: Answered, 299: Answered, 400: Refused, 404: Refused, 413: Refused, 422: Refused,
		0: Undecided, 199: Undecided, 301: Undecided, 401: Undecided, 402: Undecided, 403: Undecided, 407: Undecided, 408: Undecided, 409: Undecided,
		425: Undecided, 429: Undecided, 500: Undecided, 502: Undecided, 529: Undecided, 600: Undecided,
	} {
		assert.Equal(t, want, VerdictOf(status), "%d", status)
	}
}

// The shapes that are in circulation, not only ours.
func TestVerdictOfALine(t *testing.T) {
	for line, want := range map[string]Verdict{
		`{"custom_id":"a","response":{"status_code":200,"body":{}},"error":null}`:                                      Answered,
		`{"custom_id":"a","response":{"status_code":200,"body":{}}}`:                                                   Answered,
		`{"custom_id":"a","response":{"status_code":400,"body":{"error":{}}},"error":null}`:                            Refused,
		`{"custom_id":"a","response":{"status_code":400,"body":null},"error":"bad"}`:                                   Refused,
		`{"custom_id":"a","response":{"id":"x","object":"chat.completion","choices":[]},"error":null}`:                 Answered,
		`{"custom_id":"a","response":{"status_code":429,"body":{"error":{"type":"insufficient_quota"}}}}`:              Undecided,
		`{"custom_id":"a","response":{"status_code":503,"body":{}},"error":null}`:                                      Undecided,
		`{"custom_id":"a","response":null,"error":{"code":"batch_expired","message":"late"}}`:                          Undecided,
		`{"custom_id":"a","response":{"status_code":200,"body":{}},"error":{"code":"cut","message":"short"}}`:          Undecided,
		`{"custom_id":"a","response":{"status_code":200,"body":{"error":{"code":"insufficient_quota"}}},"error":null}`: Undecided,
		`{"custom_id":"a","response":{"status_code":200,"body":{"error":null,"choices":[]}},"error":null}`:             Answered,
		`{"custom_id":"a","response":{"status_code":200,"body":{"error":{},"choices":[{}]}},"error":null}`:             Answered,
	} {
		got, known := earlierOf(t, line+"\n", time.Time{}).Verdict("a")
		assert.True(t, known, line)
		assert.Equal(t, want, got, line)
	}
}

func TestOfSeveralLinesOfAnIDTheFinalOneCounts(t *testing.T) {
	for _, contents := range []string{
		text(t, failed("a"), answered("a")), text(t, answered("a"), failed("a")), text(t, refused("a", 400), answered("a")), text(t, answered("a"), refused("a", 429)),
	} {
		got, _ := earlierOf(t, contents, time.Time{}).Verdict("a")
		assert.Equal(t, Answered, got)
	}
}

func TestChangedBodiesAreNoticed(t *testing.T) {
	e := earlierOf(t, text(t, answered("a"))+`{"custom_id":"b","response":{"status_code":200}}`+"\n", time.Time{})
	assert.False(t, e.Changed("a", "0123456789abcdef"))
	assert.True(t, e.Changed("a", "fedcba9876543210"))
	assert.False(t, e.Changed("b", "0123456789abcdef"), "a result without a hash is believed")
	assert.False(t, e.Changed("c", "0123456789abcdef"))
}

func TestWhatWasSpentEarlier(t *testing.T) {
	day := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(l Line, sent time.Time) Line { l.SentAt = &sent; return l }
	old, recent := day.Add(-25*time.Hour), day.Add(-time.Hour)
	again := at(failed("c"), recent)
	again.Earlier, again.Model = 4, "m"
	rejected := failed("d")
	rejected.Attempts = 0
	e := earlierOf(t, text(t, at(answered("a"), old), at(answered("b"), recent), again, rejected), day.Add(-24*time.Hour))
	assert.Equal(t, map[string]int{"": 1, "m": 3 + 4}, e.Attempts)
	assert.Equal(t, int64(22), e.Tokens)
	assert.Equal(t, 4, e.Lines)
	assert.Equal(t, 7, e.AttemptsOf("c"))
	assert.Equal(t, 0, e.AttemptsOf("nobody"))
}

// Whatever form the usage has, and where there is none the estimate, it was spent.
func TestTokensOfAnyUsage(t *testing.T) {
	for line, want := range map[string]int64{
		`{"custom_id":"a","response":{"status_code":200,"body":{"usage":{"prompt_tokens":5,"completion_tokens":6}}}}`:        11,
		`{"custom_id":"a","response":{"status_code":200,"body":{"usage":{"total_tokens":100.0}}}}`:                           100,
		`{"custom_id":"a","response":{"status_code":200,"body":{}},"estimated_tokens":40}`:                                   40,
		`{"custom_id":"a","response":{"status_code":200,"body":{"usage":{"total_tokens":3}}},"earlier_tokens":4}`:            7,
		`{"custom_id":"a","response":null,"error":{"code":"cancelled"},"estimated_tokens":4,"earlier_tokens":5}`:             9,
		`{"custom_id":"a","response":{"status_code":400,"body":{"error":{"message":"no"}}},"error":null,"earlier_tokens":2}`: 2,
	} {
		e := earlierOf(t, line+"\n", time.Time{})
		assert.Equal(t, want, e.Tokens, line)
		assert.Equal(t, want, e.TokensOf("a"), line)
	}
}

func TestStrangeLinesAreCounted(t *testing.T) {
	e := earlierOf(t, "what\n"+text(t, answered("a"))+"[]\n\n", time.Time{})
	assert.Equal(t, 2, e.Unreadable)
	assert.Equal(t, 1, e.Lines)
}

func TestLongLinesAreRead(t *testing.T) {
	long := answered("long")
	long.Response.Body = json.RawMessage(`{"text":"` + strings.Repeat("x", 300<<10) + `"}`)
	e := earlierOf(t, text(t, answered("a"), long, answered("b")), time.Time{})
	assert.Equal(t, 3, e.Lines)
}

// The samples of interrupted runs: what is kept and what is sent again.
func TestResumeSamples(t *testing.T) {
	partials, err := filepath.Glob("../../testdata/samples/resume/*.partial-out.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, partials)
	for _, partial := range partials {
		base := strings.TrimSuffix(partial, ".partial-out.jsonl")
		t.Run(filepath.Base(base), func(t *testing.T) { checkPartial(t, base) })
	}
}

func checkPartial(t *testing.T, base string) {
	var want struct {
		Sends     []string `json:"resume_sends"`
		Keeps     []string `json:"resume_keeps"`
		FileError string   `json:"file_error"`
	}
	sidecar, err := os.ReadFile(base + ".want.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(sidecar, &want))
	partial, err := os.Open(base + ".partial-out.jsonl")
	require.NoError(t, err)
	defer partial.Close()
	e, err := readEarlier(batchfile.NewLines(partial, MaxLine), time.Time{})
	if want.FileError != "" {
		assert.ErrorIs(t, err, ErrNotResults)
		return
	}
	require.NoError(t, err)
	for _, id := range want.Keeps {
		v, _ := e.Verdict(id)
		assert.NotEqual(t, Undecided, v, id)
	}
	for _, id := range want.Sends {
		v, _ := e.Verdict(id)
		assert.Equal(t, Undecided, v, id)
	}
}
