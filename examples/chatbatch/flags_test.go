package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

// Whatever is wrong before the first request is told in one sentence, with exit code 2, and nothing is written.
func TestWhatIsRefusedBeforehand(t *testing.T) {
	good := []string{"-i", "IN", "-url", "http://127.0.0.1:1", "-o", "OUT"}
	for _, c := range []struct {
		name string
		args []string
		say  string
	}{
		{"unknown flag", []string{"-frobnicate"}, "-frobnicate"},
		{"flag without value", []string{"-i"}, "-i"},
		{"bad number", append([]string{"-rpm", "many"}, good...), "-rpm"},
		{"negative rate", append([]string{"-rpm", "-5"}, good...), "-rpm"},
		{"rate that is no number", append([]string{"-rpm", "NaN"}, good...), "-rpm"},
		{"endless rate", append([]string{"-tpm", "Inf"}, good...), "-tpm"},
		{"rate of nothing", append([]string{"-rpm", "0"}, good...), "-rpm"},
		{"tokens of nothing", append([]string{"-tpm", "0"}, good...), "-tpm"},
		{"no request a day", append([]string{"-rpd", "0"}, good...), "-rpd"},
		{"no attempt", append([]string{"-max-attempts", "0"}, good...), "-max-attempts"},
		{"no token", append([]string{"-max-tokens-total", "0"}, good...), "-max-tokens-total"},
		{"no workers", append([]string{"-concurrency", "0"}, good...), "-concurrency"},
		{"bad duration", append([]string{"-max-wait", "5"}, good...), "-max-wait"},
		{"bad limit", append([]string{"-limit", "fast"}, good...), "-limit"},
		{"limit without model", append([]string{"-limit", "=5/minute"}, good...), "no model"},
		{"no line length", append([]string{"-max-line", "0"}, good...), "-max-line"},
		{"too long lines", append([]string{"-max-line", "999999999"}, good...), "-max-line"},
		{"header that is none", append([]string{"-key-header", "bad header"}, good...), "-key-header"},
		{"empty header", append([]string{"-key-header", ""}, good...), "-key-header"},
		{"header with a colon", append([]string{"-key-header", "X-Key:"}, good...), "-key-header"},
		{"header that is left out", append([]string{"-key-header", "host"}, good...), "-key-header"},
		{"header that is needed", append([]string{"-key-header", "Content-Type"}, good...), "-key-header"},
		{"report to standard output", append([]string{"-report", "-"}, good...), "-report"},
		{"limit below one an hour", append([]string{"-limit", "m=20/day"}, good...), "-rpd"},
		{"bad format", append([]string{"-format", "csv"}, good...), "csv"},
		{"two inputs", append(append([]string{}, good...), "other"), "other"},
		{"flags behind the input", []string{"-url", "http://127.0.0.1:1", "IN", "-n"}, "flags come first"},
		{"no url", []string{"-i", "IN"}, "-url"},
		{"no input", []string{"-url", "http://127.0.0.1:1"}, "-i"},
		{"nothing to check", []string{"-n"}, "-i"},
		{"bad url", []string{"-i", "IN", "-url", "localhost:80"}, "http://"},
		{"bad url to check", []string{"-n", "-i", "IN", "-url", "localhost:80"}, "http://"},
		{"contradiction", append([]string{"-overwrite", "-retry-failed"}, good...), "-overwrite"},
		{"missing input", []string{"-i", "NOFILE", "-url", "http://127.0.0.1:1", "-o", "OUT"}, "no such file"},
		{"directory", []string{"-i", "DIR", "-url", "http://127.0.0.1:1", "-o", "OUT"}, "directory"},
		{"output is the input", []string{"-i", "IN", "-url", "http://127.0.0.1:1", "-o", "IN"}, "are the same file"},
		{"no key", []string{"-i", "IN", "-url", "https://api.example", "-o", "OUT"}, "OPENAI_API_KEY"},
		{"no such key", append([]string{"-key-env", "NOT_SET"}, good...), "NOT_SET"},
		{"strict pipe", []string{"-strict", "-url", "http://127.0.0.1:1", "-"}, "-strict"},
		{"nobody there", good, "cannot be reached"},
		{"no such host", []string{"-i", "IN", "-url", "http://host.invalid", "-key-env", "", "-o", "OUT"}, "cannot be reached"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			in := filepath.Join(dir, "in.jsonl")
			require.NoError(t, os.WriteFile(in, []byte(requests(2)), 0o600))
			replace := strings.NewReplacer("NOFILE", filepath.Join(dir, "nothing"), "OUT", filepath.Join(dir, "out"), "DIR", dir, "IN", in)
			var args []string
			for _, a := range c.args {
				args = append(args, replace.Replace(a))
			}
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), args, world{env: func(string) string { return "" }, stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr})
			assert.Equal(t, exitRefused, code)
			assert.Contains(t, stderr.String(), c.say)
			assert.Equal(t, 1, strings.Count(stderr.String(), "\n"), stderr.String())
			assert.Empty(t, stdout.String())
			files, err := os.ReadDir(dir)
			require.NoError(t, err)
			assert.Len(t, files, 1, "only the input is there")
		})
	}
}

func TestAFileThatCannotBeRead(t *testing.T) {
	if os.Geteuid() == 0 {
		return // root reads everything
	}
	path := filepath.Join(t.TempDir(), "in.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(requests(1)), 0))
	var stderr bytes.Buffer
	code := run(t.Context(), []string{"-n", "-i", path}, world{stderr: &stderr})
	assert.Equal(t, exitRefused, code)
	assert.Contains(t, stderr.String(), "permission denied")
}

func TestAReportThatCannotBeWritten(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm()
		p := newProgram(t, requests(2), up)
		d := p.send(t, "-report", filepath.Join(p.dir, "no", "such.html"))
		assert.Equal(t, exitRefused, d.code)
		assert.NoFileExists(t, p.output())
		assert.Zero(t, up.Stats().Arrivals)
	})
}

func TestHelp(t *testing.T) {
	for _, flag := range []string{"-h", "-help", "--help"} {
		var stdout, stderr bytes.Buffer
		assert.Equal(t, exitDone, run(t.Context(), []string{flag}, world{stdout: &stdout, stderr: &stderr}))
		for _, name := range []string{
			"-i", "-url", "-o", "-key-env", "-rpm", "-tpm", "-rpd", "-limit", "-concurrency", "-max-attempts", "-max-wait", "-deadline",
			"-n", "-strict", "-ordered", "-overwrite", "-retry-failed", "-max-tokens-total", "-report", "-q",
		} {
			assert.Contains(t, stdout.String(), "\n  "+name+" ")
		}
		assert.Empty(t, stderr.String())
	}
}

func TestADryRunEstimates(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := newProgram(t, requests(1200)+"nonsense\n", nil)
		d := p.start(t, "-n", "-i", p.input, "-rpm", "60", "-tpm", "100000")
		assert.Equal(t, exitSomeFailed, d.code)
		assert.Contains(t, d.stderr, "1201 lines of openai-batch: 1200 requests, 1 rejected")
		assert.Contains(t, d.stderr, `"m": 1200 requests`)
		assert.Contains(t, d.stderr, "at least 19m0s")
		assert.Zero(t, d.took)
	})
}

func TestADryRunKnowsWhatIsDone(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := newProgram(t, requests(4), calm())
		require.Equal(t, exitDone, p.send(t).code)
		p.write(t, "in.jsonl", requests(6))
		d := p.start(t, "-n", "-i", p.input, "-o", p.output())
		assert.Equal(t, exitDone, d.code)
		assert.Contains(t, d.stderr, "4 answered before")
		assert.Contains(t, d.stderr, "to send   2 requests")
		assert.NotContains(t, d.stderr, "limits", "none are given")
	})
}

// The same flags with -n need no key, and reach nobody.
func TestADryRunOfTheWholeCommand(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := newProgram(t, requests(2), nil)
		p.env = nil
		d := p.send(t, "-n")
		assert.Equal(t, exitDone, d.code, d.stderr)
		assert.NoFileExists(t, p.output())
	})
}

func TestADryRunReadsPipesToo(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := newProgram(t, "", nil)
		p.stdin = requests(3)
		d := p.start(t, "-n", "-")
		assert.Equal(t, exitDone, d.code)
		assert.Contains(t, d.stderr, "3 requests")
	})
}

func TestQuiet(t *testing.T) {
	virtual(t, func(t *testing.T) {
		d := newProgram(t, requests(100), calm()).send(t, "-q", "-rpm", "60")
		assert.Equal(t, exitDone, d.code)
		assert.Empty(t, d.stderr)
		d = newProgram(t, requests(2)+"x\n", calm()).send(t, "-q")
		assert.Equal(t, exitSomeFailed, d.code)
		assert.Contains(t, d.stderr, "2 answered")
	})
}

// MEM-03: a line above the cap is one bad line with its number, however long; those below it are sent whole.
func TestLongLinesAndTheCap(t *testing.T) {
	virtual(t, func(t *testing.T) {
		sizes := []int{100, 70 << 10, 5 << 20, 20 << 20, 100}
		var lines []string
		for i, size := range sizes {
			lines = append(lines, request(fmt.Sprint(i), strings.Repeat("x", size)))
		}
		up := &watched{RoundTripper: calm()}
		p := newProgram(t, strings.Join(lines, "\n"), up) // the last line has no newline
		d := p.send(t, "-max-line", fmt.Sprint(10<<20))
		assert.Equal(t, exitSomeFailed, d.code)
		assert.Equal(t, 4, d.answered())
		assert.Contains(t, d.stderr, "in.jsonl:4: line_too_long")
		longest := 0
		for _, body := range up.body {
			longest = max(longest, len(body))
		}
		assert.Greater(t, longest, 5<<20)
	})
}

// A page that was begun for a run that cannot begin is taken away.
func TestNoEmptyReportStays(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := newProgram(t, requests(2), calm())
		page := filepath.Join(p.dir, "page.html")
		d := p.start(t, "-i", p.input, "-url", apiHost, "-o", filepath.Join(p.dir, "no", "out"), "-report", page)
		assert.Equal(t, exitRefused, d.code)
		assert.NoFileExists(t, page)
	})
}

func TestTheReportIsWritten(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := newProgram(t, requests(200), calm())
		page := filepath.Join(p.dir, "page.html")
		require.Equal(t, exitDone, p.send(t, "-rpm", "120", "-report", page).code)
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		assert.Contains(t, string(text), "200 answered")
		assert.Contains(t, string(text), "<svg")
		assert.Contains(t, string(text), "in.jsonl")
	})
}

func TestLimitFlags(t *testing.T) {
	var l limitFlags
	require.NoError(t, l.Set("500/minute"))
	require.NoError(t, l.Set(" a/b=c = 10 tokens/second burst 20"))
	assert.Equal(t, limitFlags{
		{"", budget.PerMinute(500)},
		{"a/b=c", budget.Policy{Unit: "tokens", Limit: 10, Window: time.Second, Burst: 20}},
	}, l)
}
