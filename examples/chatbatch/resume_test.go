package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/throttletest"
)

// sentIDs is which requests of an input went out, by their bodies.
func sentIDs(t *testing.T, input string, sent []string) (ids []string) {
	t.Helper()
	byBody := map[string]string{}
	for line := range strings.Lines(input) {
		var r struct {
			CustomID string          `json:"custom_id"`
			Body     json.RawMessage `json:"body"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		byBody[string(r.Body)] = r.CustomID
	}
	for _, body := range sent {
		ids = append(ids, byBody[body])
	}
	return ids
}

func TestResumeSamples(t *testing.T) {
	sidecars, err := filepath.Glob("testdata/samples/resume/*.want.json")
	require.NoError(t, err)
	require.NotEmpty(t, sidecars)
	for _, sidecar := range sidecars {
		base := strings.TrimSuffix(sidecar, ".want.json")
		t.Run(filepath.Base(base), func(t *testing.T) {
			virtual(t, func(t *testing.T) { checkResume(t, base) })
		})
	}
}

func checkResume(t *testing.T, base string) {
	var want struct {
		Sends     []string `json:"resume_sends"`
		Keeps     []string `json:"resume_keeps"`
		FileError string   `json:"file_error"`
	}
	sidecar, err := os.ReadFile(base + ".want.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(sidecar, &want))
	input, err := os.ReadFile(base + ".jsonl")
	require.NoError(t, err)
	partial, err := os.ReadFile(base + ".partial-out.jsonl")
	require.NoError(t, err)
	up := &watched{RoundTripper: calm()}
	p := newProgram(t, string(input), up)
	p.write(t, "out.jsonl", string(partial))
	if want.FileError != "" {
		p.input = p.write(t, "in.jsonl", string(input))
		code, after := p.sendRaw(t)
		assert.Equal(t, exitRefused, code)
		assert.Equal(t, string(partial), after, "the file stays as it was")
		assert.Empty(t, up.seen)
		return
	}
	d := p.send(t)
	assert.Equal(t, exitDone, d.code, d.stderr)
	assert.ElementsMatch(t, want.Sends, sentIDs(t, string(input), up.body))
	assert.Len(t, d.byID(t), len(want.Sends)+len(want.Keeps))
}

// sendRaw is for outputs that are no results.
func (p *program) sendRaw(t *testing.T) (code int, after string) {
	t.Helper()
	elsewhere := p.output()
	q := *p
	q.dir = t.TempDir()
	d := q.start(t, "-i", p.input, "-url", apiHost, "-o", elsewhere)
	text, err := os.ReadFile(elsewhere)
	require.NoError(t, err)
	return d.code, string(text)
}

// One line for each id, whatever became of it in how many runs.
func TestRunsUntilEverythingIsAnswered(t *testing.T) {
	virtual(t, func(t *testing.T) {
		statuses := map[int]int{1: 400, 2: 500, 3: 503, 4: 422}
		up := calm(throttletest.WithFaults(func(n int, _ *httpRequest) *throttletest.Fault {
			if s := statuses[n]; s != 0 {
				return &throttletest.Fault{Status: s, Body: []byte(`{"error":{"message":"no"}}`)}
			}
			return nil
		}))
		p := newProgram(t, requests(8), up)
		d := p.send(t, "-max-attempts", "1", "-concurrency", "1")
		assert.Equal(t, exitSomeFailed, d.code)
		assert.Equal(t, 4, d.answered())
		assert.Len(t, d.byID(t), 8)
		assert.Equal(t, 8, up.Stats().Arrivals)

		d = p.send(t) // 500 and 503 are tried again, 400 and 422 are kept
		assert.Equal(t, exitSomeFailed, d.code, "the refused ones are still no answers")
		assert.Equal(t, 6, d.answered())
		assert.Len(t, d.byID(t), 8)
		assert.Equal(t, 10, up.Stats().Arrivals)
		assert.Equal(t, 1, d.byID(t)["id-1"].Earlier)
		assert.Contains(t, d.stderr, "2 refused for good before")

		d = p.send(t, "-retry-failed")
		assert.Equal(t, exitDone, d.code, d.stderr)
		assert.Equal(t, 8, d.answered())
		assert.Len(t, d.byID(t), 8)
		assert.Equal(t, 12, up.Stats().Arrivals)

		d = p.send(t)
		assert.Equal(t, exitDone, d.code)
		assert.Equal(t, 12, up.Stats().Arrivals, "nothing is paid for twice")

		d = p.send(t, "-overwrite")
		assert.Equal(t, exitDone, d.code)
		assert.Len(t, d.byID(t), 8)
		assert.Equal(t, 20, up.Stats().Arrivals)
	})
}

// -overwrite starts anew although there are results; what is no file of results is somebody's work.
func TestAFileOfSomethingElseIsNotOverwritten(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm()
		p := newProgram(t, requests(2), up)
		for _, text := range []string{"Dear diary\n", requests(3)} {
			path := p.write(t, "other.txt", text)
			d := p.start(t, "-i", p.input, "-url", apiHost, "-o", path, "-overwrite")
			assert.Equal(t, exitRefused, d.code)
			assert.Contains(t, d.stderr, "cannot be overwritten: it holds no result line of a batch; choose another -o")
			left, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, text, string(left))
		}
		assert.Zero(t, up.Stats().Arrivals)
		p.write(t, "out.jsonl", "")
		assert.Equal(t, exitDone, p.send(t, "-overwrite").code, "an empty file is nobody's")
	})
}

// The input may be sorted, cut and added to between runs: only the ids count.
func TestAnEditedInput(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := &watched{RoundTripper: calm()}
		p := newProgram(t, request("a", "one")+"\n"+request("b", "two")+"\n"+request("c", "three")+"\n", up)
		require.Equal(t, exitDone, p.send(t).code)
		p.write(t, "in.jsonl", request("new", "one")+"\n"+request("c", "three")+"\n"+request("a", "one, but changed")+"\n")
		d := p.send(t)
		assert.Equal(t, exitDone, d.code)
		assert.Len(t, up.seen, 4, "only the new id is sent, although its text is known")
		assert.Len(t, d.byID(t), 4, "results of lines that are gone stay")
		assert.Contains(t, d.stderr, "1 requests are not the ones that were answered")
	})
}

// Cookbook ids are line numbers: a line that holds another request now has no result yet.
func TestAnEditedCookbookInput(t *testing.T) {
	virtual(t, func(t *testing.T) {
		line := func(text string) string { return `{"messages":[{"role":"user","content":"` + text + `"}]}` + "\n" }
		up := &watched{RoundTripper: calm()}
		p := newProgram(t, line("one")+line("two"), up)
		require.Equal(t, exitDone, p.send(t).code)
		p.write(t, "in.jsonl", line("zero")+line("two")+line("one"))
		d := p.send(t)
		assert.Equal(t, exitDone, d.code, d.stderr)
		assert.Len(t, up.seen, 4)
		all := d.byID(t)
		assert.Len(t, all, 3)
		assert.Contains(t, string(all["line-1"].Response.Body), "zero")
	})
}

func TestRejectedLinesLeaveOneLineEach(t *testing.T) {
	virtual(t, func(t *testing.T) {
		in := request("a", "x") + "\n" + `{"custom_id":"bad","body":7}` + "\n" + request("a", "again") + "\nnonsense\n"
		up := calm()
		p := newProgram(t, in, up)
		for range 3 {
			d := p.send(t)
			assert.Equal(t, exitSomeFailed, d.code)
			all := d.byID(t)
			assert.Len(t, all, 2)
			assert.Equal(t, "body_not_object", all["bad"].Error.Code)
			assert.Equal(t, 200, all["a"].Response.StatusCode)
			assert.Contains(t, d.stderr, "in.jsonl:2: body_not_object")
			assert.Contains(t, d.stderr, "in.jsonl:3: duplicate_custom_id: line 1 has it already")
			assert.Contains(t, d.stderr, "in.jsonl:4: invalid_json")
		}
		assert.Equal(t, 1, up.Stats().Arrivals)
	})
}

// Of several lines with one id one has the result, whichever are good; from a pipe too.
func TestOneResultForEachID(t *testing.T) {
	virtual(t, func(t *testing.T) {
		good, bad := request("A", "x")+"\n", `{"custom_id":"A","body":"oops"}`+"\n"
		for _, in := range []string{good + bad, bad + good, bad + good + bad, good + good + bad} {
			p := newProgram(t, in, calm())
			p.stdin = in
			for _, args := range [][]string{{}, {"-ordered"}} {
				d := p.send(t, args...)
				assert.Equal(t, exitSomeFailed, d.code)
				assert.Equal(t, 200, d.byID(t)["A"].Response.StatusCode, in)
			}
			d := p.start(t, "-url", apiHost, "-o", p.output(), "-overwrite", "-")
			assert.Equal(t, 200, d.byID(t)["A"].Response.StatusCode, in)
		}
		d := newProgram(t, bad+bad+request("B", "y")+"\n", calm()).send(t)
		assert.Equal(t, "body_not_object", d.byID(t)["A"].Error.Code)
	})
}

// With -ordered the file is in the order of the input at the end of every run, also of what was sent again or is new.
func TestOrderedOverAResume(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := newProgram(t, requests(4), calm(throttletest.WithFaults(throttletest.Statuses(0, 500))))
		p.send(t, "-ordered", "-max-attempts", "1", "-concurrency", "1")
		p.up = calm()
		d := p.send(t, "-ordered")
		assert.Equal(t, exitDone, d.code, d.stderr)
		assert.Equal(t, []string{"id-0", "id-1", "id-2", "id-3"}, d.order())
		p.write(t, "in.jsonl", request("new", "n")+"\n"+request("id-3", "Question 3")+"\n"+request("id-0", "Question 0")+"\n")
		d = p.send(t, "-ordered")
		assert.Equal(t, []string{"id-1", "id-2", "new", "id-3", "id-0"}, d.order(), "results of lines that are gone come first")
	})
}

func (d done) order() (ids []string) {
	for _, r := range d.out {
		ids = append(ids, r.CustomID)
	}
	return ids
}

// Where no second file can be made the results are kept all the same, and it is said.
func TestAResumeInAFolderThatCannotBeWritten(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := newProgram(t, requests(3), calm(throttletest.WithFaults(throttletest.Statuses(0, 500))))
		p.send(t, "-max-attempts", "1", "-concurrency", "1")
		moved := p.dir + ".moved"
		p.up = calm(throttletest.WithFaults(func(int, *httpRequest) *throttletest.Fault {
			assert.NoError(t, os.Rename(p.dir, moved)) // works for every user, unlike permissions
			return nil
		}))
		d := p.send(t, "-q")
		assert.Equal(t, exitDone, d.code)
		assert.Contains(t, d.stderr, "stays as it was written")
		require.NoError(t, os.Rename(moved, p.dir))
		assert.Equal(t, 4, strings.Count(outText(t, p), "\n"))
		p.up = calm()
		d = p.send(t)
		assert.Equal(t, exitDone, d.code)
		assert.Len(t, d.byID(t), 3, "the next run makes up for it")
	})
}

// Changed requests are named also where nothing else is said.
func TestChangedRequestsAreNamed(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := newProgram(t, requests(2), calm())
		require.Equal(t, exitDone, p.send(t).code)
		p.write(t, "in.jsonl", request("id-0", "Question 0")+"\n"+request("id-1", "another")+"\n")
		for _, args := range [][]string{{"-q"}, {}} {
			d := p.send(t, args...)
			assert.Equal(t, exitDone, d.code)
			assert.Contains(t, d.stderr, `in.jsonl:2: warning: the earlier result of "id-1"`)
			assert.NotContains(t, d.stderr, "id-0")
		}
	})
}

// A pipe cannot be looked at ahead; its earlier failures are replaced when the new results are there.
func TestResumeFromAPipe(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm(throttletest.WithFaults(throttletest.Statuses(500, 0, 500)))
		p := newProgram(t, "", up)
		p.stdin = requests(5)
		d := p.start(t, "-i", "-", "-url", apiHost, "-o", p.output(), "-max-attempts", "1", "-concurrency", "1")
		assert.Equal(t, exitSomeFailed, d.code)
		assert.Equal(t, 3, d.answered())
		d = p.start(t, "-url", apiHost, "-o", p.output(), "-")
		assert.Equal(t, exitDone, d.code, d.stderr)
		assert.Len(t, d.byID(t), 5)
		assert.Equal(t, 5, d.answered())
	})
}
