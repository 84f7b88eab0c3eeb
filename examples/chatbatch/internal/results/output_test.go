package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func answered(id string) Line {
	return Line{ID: "batch_req_" + id, CustomID: id, Attempts: 1, BodyHash: "0123456789abcdef",
		Response: &Response{StatusCode: 200, RequestID: "r-" + id, Body: json.RawMessage(`{"usage":{"total_tokens":11}}`)}}
}

func refused(id string, status int) Line {
	l := answered(id)
	l.Response.StatusCode = status
	l.Response.Body = json.RawMessage(`{"error":{"message":"no"}}`)
	return l
}

func failed(id string) Line {
	return Line{ID: "batch_req_" + id, CustomID: id, Attempts: 3, Error: &Error{Code: "timeout", Message: "no answer"}}
}

func text(t *testing.T, lines ...Line) string {
	t.Helper()
	var all []byte
	for _, l := range lines {
		b, err := l.encode()
		require.NoError(t, err)
		all = append(all, b...)
	}
	return string(all)
}

// begun opens a file with those contents, makes it ready, and returns it with its path.
func begun(t *testing.T, contents string) (*Output, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(contents), 0o640))
	o, err := Open(path, time.Time{}, false)
	require.NoError(t, err)
	require.NoError(t, o.Begin())
	t.Cleanup(func() { _ = o.Close() })
	return o, path
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

func TestALineIsOneWriteInOpenAIsShape(t *testing.T) {
	var w countingWriter
	l := answered("a<&>")
	l.Response.Body = json.RawMessage("{\n \"n\": 9007199254740993, \"t\": 0.10, \"s\": \"<b>\u2028\"\n}")
	require.NoError(t, To(&w).Write(l))
	assert.Equal(t, 1, w.writes)
	line := w.String()
	assert.Equal(t, 1, strings.Count(line, "\n"))
	assert.True(t, strings.HasSuffix(line, "\n"))
	assert.Contains(t, line, `"custom_id":"a<&>"`)
	assert.Contains(t, line, `"error":null`)
	assert.Contains(t, line, `9007199254740993,"t":0.10,"s":"<b>`)
	assert.Contains(t, text(t, failed("b")), `"response":null,"error":{"code":"timeout","message":"no answer"}`)
}

type countingWriter struct {
	bytes.Buffer
	writes int
}

func (w *countingWriter) Write(p []byte) (int, error) {
	w.writes++
	return w.Buffer.Write(p)
}

func TestABodyThatIsNoJSONIsRefusedAndSpoilsNothing(t *testing.T) {
	var w bytes.Buffer
	o := To(&w)
	bad := answered("a")
	bad.Response.Body = json.RawMessage("<html>")
	assert.ErrorContains(t, o.Write(bad), `"a"`)
	require.NoError(t, o.Write(answered("b")))
	assert.Equal(t, text(t, answered("b")), w.String())
}

func TestOpenChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.jsonl")
	o, err := Open(path, time.Time{}, false)
	require.NoError(t, err)
	require.NoError(t, o.Close())
	assert.NoFileExists(t, path)

	torn := text(t, answered("a")) + `{"custom`
	require.NoError(t, os.WriteFile(path, []byte(torn), 0o600))
	for _, afresh := range []bool{false, true} {
		o, err = Open(path, time.Time{}, afresh)
		require.NoError(t, err)
		require.NoError(t, o.Close())
		assert.Equal(t, torn, read(t, path))
	}
}

func TestBeginMendsTheTail(t *testing.T) {
	a, b, c := text(t, answered("a")), text(t, answered("b")), text(t, answered("c"))
	for _, s := range []struct{ name, before, after string }{
		{"empty", "", ""},
		{"whole", a + b, a + b},
		{"half a line", a + b[:40], a},
		{"only half a line of ours after a whole one", a + "{", a},
		{"newline lost", a + strings.TrimSuffix(b, "\n"), a + b},
		{"blanks at the end", a + "   ", a},
		{"blank line at the end", a + "\n", a + "\n"},
		{"zeros at the end", a + strings.Repeat("\x00", 64), a},
		{"carriage return", strings.TrimSuffix(a, "\n") + "\r", strings.TrimSuffix(a, "\n") + "\r\n"},
		{"a strange line in between", a + "what\n" + b, a + "what\n" + b},
	} {
		t.Run(s.name, func(t *testing.T) {
			o, path := begun(t, s.before)
			assert.Equal(t, s.after, read(t, path))
			require.NoError(t, o.Write(answered("c")))
			require.NoError(t, o.Close())
			assert.Equal(t, s.after+c, read(t, path))
		})
	}
}

// A writer that was killed at its first line leaves half of it, and nothing else.
func TestHalfOfAFirstLineIsCut(t *testing.T) {
	for _, contents := range []string{`{"id":"batch_req_00`, `{"i`, "{"} {
		path := filepath.Join(t.TempDir(), "out.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(contents), 0o600))
		o, err := Open(path, time.Time{}, false)
		require.NoError(t, err, contents)
		require.NoError(t, o.Begin())
		require.NoError(t, o.Write(answered("c")))
		require.NoError(t, o.Close())
		assert.True(t, strings.HasPrefix(read(t, path), `{"id":"batch_req_c"`), contents)
		assert.Equal(t, 1, strings.Count(read(t, path), "\n"))
	}
}

func TestAFileOfSomethingElseIsRefused(t *testing.T) {
	for _, contents := range []string{"PK\x03\x04 not a results file\n", "half", `{"custom_id":"a"}` + "\n", `{"custom_id":1,"response":{}}` + "\n", "[]\n"} {
		path := filepath.Join(t.TempDir(), "out.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(contents), 0o600))
		for _, afresh := range []bool{false, true} {
			_, err := Open(path, time.Time{}, afresh)
			assert.ErrorIs(t, err, ErrNotResults, "%q", contents)
			assert.Equal(t, contents, read(t, path))
		}
	}
}

func TestAfreshStartsAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(text(t, answered("a"))), 0o600))
	o, err := Open(path, time.Time{}, true)
	require.NoError(t, err)
	_, known := o.Earlier().Verdict("a")
	assert.False(t, known)
	require.NoError(t, o.Begin())
	require.NoError(t, o.Write(answered("b")))
	require.NoError(t, o.Close())
	assert.Equal(t, text(t, answered("b")), read(t, path))
}

func TestOneWriterAtATime(t *testing.T) {
	for name, again := range map[string]bool{"appended": false, "rewritten": true} {
		t.Run(name, func(t *testing.T) {
			o, path := begun(t, text(t, answered("a"), failed("b")))
			if again {
				require.NoError(t, o.Write(answered("b")))
				require.NoError(t, o.Tidy(nil))
			}
			_, err := Open(path, time.Time{}, false)
			require.ErrorIs(t, err, ErrInUse)
			require.NoError(t, o.Close())
			more, err := Open(path, time.Time{}, false)
			require.NoError(t, err)
			require.NoError(t, more.Close())
		})
	}
}

func TestWhereNoResultsCanGo(t *testing.T) {
	_, err := Open(t.TempDir(), time.Time{}, false)
	assert.ErrorContains(t, err, "directory")
	o, err := Open(filepath.Join(t.TempDir(), "no", "such", "place"), time.Time{}, false)
	require.NoError(t, err)
	assert.ErrorIs(t, o.Begin(), os.ErrNotExist)
}

func TestAFullDeviceStopsTheFirstWrite(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		return // this system has no such device
	}
	o, err := Open(full, time.Time{}, false)
	require.NoError(t, err)
	require.NoError(t, o.Begin())
	first := o.Write(answered("a"))
	require.Error(t, first)
	assert.Equal(t, first, o.Write(answered("b")), "nothing is tried after a failure")
}

// A disk that takes half a line must not keep it.
func TestHalfALineIsTakenBack(t *testing.T) {
	o, path := begun(t, text(t, answered("a")))
	o.w = &halfWriter{o.file}
	assert.ErrorContains(t, o.Write(answered("b")), "no space left")
	assert.ErrorContains(t, o.Close(), "no space left")
	assert.Equal(t, text(t, answered("a")), read(t, path))
}

type halfWriter struct{ to *os.File }

func (w *halfWriter) Write(p []byte) (int, error) {
	n, err := w.to.Write(p[:len(p)/2])
	return n, errors.Join(err, errors.New("no space left"))
}

func TestManyWritersMakeWholeLines(t *testing.T) {
	o, path := begun(t, "")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				assert.NoError(t, o.Write(answered("a")))
			}
		})
	}
	all.Wait()
	require.NoError(t, o.Close())
	assert.Equal(t, strings.Repeat(text(t, answered("a")), 400), read(t, path))
}

var errBroken = errors.New("broken pipe")
