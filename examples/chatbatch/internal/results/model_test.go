package results

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// history is a file over several runs of a job, beside what it should say.
type history struct {
	path    string
	verdict map[string]Verdict // what the file says, as far as whole lines go
}

// A file that is continued, cut anywhere, and continued again never loses a whole line, never holds half of one, and never says two things of one id.
func TestAnyHistoryOfRuns(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		h := &history{path: filepath.Join(dir, fmt.Sprint(n)), verdict: map[string]Verdict{}}
		for range rapid.IntRange(1, 3).Draw(rt, "runs") {
			h.run(t, rt)
			if rapid.Bool().Draw(rt, "killed") {
				h.tear(t, rt)
			}
		}
		h.run(t, rt)
		h.compare(t, rt)
	})
}

// run continues the file: everything undecided is sent again, with one of the possible outcomes.
func (h *history) run(t *testing.T, rt *rapid.T) {
	o, err := Open(h.path, time.Time{}, false)
	require.NoError(t, err)
	for id, want := range h.verdict {
		got, known := o.Earlier().Verdict(id)
		assert.True(rt, known, id)
		assert.Equal(rt, want, got, id)
	}
	var ids []string
	for i := range rapid.IntRange(0, 8).Draw(rt, "requests") {
		id := fmt.Sprint(i)
		if v, known := o.Earlier().Verdict(id); !known || v == Undecided {
			ids = append(ids, id)
		}
	}
	require.NoError(t, o.Begin())
	for _, id := range ids {
		l := rapid.SampledFrom([]Line{answered(id), refused(id, 400), refused(id, 429), failed(id)}).Draw(rt, "outcome")
		require.NoError(t, o.Write(l))
		h.verdict[id] = Undecided
		if l.Response != nil {
			h.verdict[id] = VerdictOf(l.Response.StatusCode)
		}
	}
	require.NoError(t, o.Tidy(nil))
	require.NoError(t, o.Close())
}

// tear cuts the file within its last line, as a kill in the middle of a write would.
func (h *history) tear(t *testing.T, rt *rapid.T) {
	text := read(t, h.path)
	lines := strings.SplitAfter(text, "\n")
	if len(lines) < 3 {
		return // a file with less than two results may be cut down to no result at all, which is refused
	}
	last := lines[len(lines)-2]
	keep := rapid.IntRange(1, len(last)-1).Draw(rt, "bytes left of the last line")
	require.NoError(t, os.Truncate(h.path, int64(len(text)-len(last)+keep)))
	if s, ok := parseLine([]byte(last[:keep])); ok {
		h.verdict[s.CustomID] = s.verdict() // only the newline was lost
		return
	}
	s, ok := parseLine([]byte(last))
	require.True(t, ok)
	delete(h.verdict, s.CustomID)
}

func (h *history) compare(t *testing.T, rt *rapid.T) {
	seen := map[string]bool{}
	for line := range strings.Lines(read(t, h.path)) {
		assert.True(rt, strings.HasSuffix(line, "\n"))
		s, ok := parseLine([]byte(strings.TrimSpace(line)))
		if !assert.True(rt, ok, line) {
			continue
		}
		assert.False(rt, seen[s.CustomID], "two lines of %s", s.CustomID)
		seen[s.CustomID] = true
		assert.Equal(rt, h.verdict[s.CustomID], s.verdict())
	}
	assert.Len(rt, seen, len(h.verdict))
}

// Whatever the order in which results come, an ordered output has them by number, and holds no more than its window.
func TestAnyOrderOfResults(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		window := rapid.IntRange(1, 10).Draw(rt, "window")
		n := rapid.IntRange(0, 50).Draw(rt, "n")
		var w strings.Builder
		o := NewOrder(To(&w), window)
		var open []int
		next := 0
		var want strings.Builder
		for next < n || len(open) > 0 {
			if next < n && len(o.free) < window && rapid.Bool().Draw(rt, "give out") {
				assert.True(rt, o.Reserve(nil))
				open = append(open, next)
				want.WriteString(text(t, answered(fmt.Sprint(next))))
				next++
				continue
			}
			if len(open) == 0 {
				continue
			}
			i := rapid.IntRange(0, len(open)-1).Draw(rt, "which ends")
			l := answered(fmt.Sprint(open[i]))
			assert.NoError(rt, o.Put(open[i], &l))
			open = append(open[:i], open[i+1:]...)
			assert.LessOrEqual(rt, len(o.held), window)
		}
		assert.Equal(rt, want.String(), w.String())
		assert.Empty(rt, o.free)
	})
}
