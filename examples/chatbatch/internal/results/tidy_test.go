package results

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/batchfile"
)

// A new result takes the place of the old one at the end, not before: a kill in between loses neither.
func TestLinesOfRequestsSentAgainAreTakenOut(t *testing.T) {
	strange := "what is this\n"
	before := text(t, answered("a"), failed("b")) + strange + text(t, refused("c", 429), answered("d"))
	o, path := begun(t, before+`{"cust`)
	assert.Equal(t, before, read(t, path))
	require.NoError(t, o.Write(answered("b")))
	require.NoError(t, o.Write(answered("new")))
	assert.Equal(t, before+text(t, answered("b"), answered("new")), read(t, path))
	require.NoError(t, o.Tidy(nil))
	require.NoError(t, o.Close())
	assert.Equal(t, text(t, answered("a"))+strange+text(t, refused("c", 429), answered("d"), answered("b"), answered("new")), read(t, path))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	others, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, others, 1, "the file that took the old one's place left nothing beside it")
}

// What a killed run left twice is there once after the next, and the line that counts is the one that stays.
func TestDoublesOfAKilledRunGo(t *testing.T) {
	o, path := begun(t, text(t, failed("a"), answered("b"), answered("a"), refused("b", 429)))
	require.NoError(t, o.Tidy(nil))
	require.NoError(t, o.Close())
	assert.Equal(t, text(t, answered("b"), answered("a")), read(t, path))
}

// A line of the input that is no request makes way for one of the same id that is.
func TestARejectionMakesWay(t *testing.T) {
	o, path := begun(t, "")
	rejected := failed("a")
	rejected.Attempts = 0
	require.NoError(t, o.Write(rejected))
	require.NoError(t, o.Write(answered("a")))
	require.NoError(t, o.Tidy(nil))
	require.NoError(t, o.Close())
	assert.Equal(t, text(t, answered("a")), read(t, path))
}

func TestLinesAreOrderedByRank(t *testing.T) {
	ranks := map[string]int{"a": 1, "b": 2, "c": 3, "d": 4}
	rank := func(id string) (int, bool) { n, ok := ranks[id]; return n, ok }
	o, path := begun(t, text(t, answered("c"), answered("gone"), failed("b")))
	for _, id := range []string{"d", "a", "b"} {
		require.NoError(t, o.Write(answered(id)))
	}
	require.NoError(t, o.Tidy(rank))
	want := text(t, answered("gone"), answered("a"), answered("b"), answered("c"), answered("d"))
	assert.Equal(t, want, read(t, path))
	before, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, o.Close())

	o, err = Open(path, time.Time{}, false)
	require.NoError(t, err)
	require.NoError(t, o.Begin())
	require.NoError(t, o.Tidy(rank))
	require.NoError(t, o.Close())
	after, err := os.Stat(path)
	require.NoError(t, err)
	assert.True(t, os.SameFile(before, after), "what is in order is not written again")
}

// Where no second file can be made the first one stays as it is, with all results.
func TestWhereNothingCanBeTidiedUp(t *testing.T) {
	o, path := begun(t, text(t, failed("a")))
	require.NoError(t, o.Write(answered("a")))
	moved := filepath.Dir(path) + ".moved"
	require.NoError(t, os.Rename(filepath.Dir(path), moved))
	assert.ErrorIs(t, o.Tidy(nil), os.ErrNotExist)
	require.NoError(t, o.Close())
	got := read(t, filepath.Join(moved, filepath.Base(path)))
	assert.Equal(t, text(t, failed("a"), answered("a")), got)
	v, _ := earlierOf(t, got, time.Time{}).Verdict("a")
	assert.Equal(t, Answered, v)
}

func TestALinkStaysALink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.jsonl"), filepath.Join(dir, "link.jsonl")
	require.NoError(t, os.Symlink("real.jsonl", link))
	for _, l := range []Line{failed("a"), answered("a")} { // at first the link leads to nothing
		o, err := Open(link, time.Time{}, false)
		require.NoError(t, err)
		require.NoError(t, o.Begin())
		require.NoError(t, o.Write(l))
		require.NoError(t, o.Tidy(nil))
		require.NoError(t, o.Close())
		assert.Equal(t, text(t, l), read(t, real))
	}
	to, err := os.Readlink(link)
	require.NoError(t, err)
	assert.Equal(t, "real.jsonl", to)
}

func TestFollowingLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	link := func(to, name string) { require.NoError(t, os.Symlink(to, filepath.Join(dir, name))) }
	link("b", "a")
	link(filepath.Join(dir, "c"), "b")
	link(".", "here")
	link("loop", "loop")
	for path, want := range map[string]string{"a": "c", "here/c": "c", "here/here/a": "c", "no/such/place": "no/such/place", "loop": "loop"} {
		assert.Equal(t, filepath.Join(dir, want), Follow(filepath.Join(dir, path)), path)
	}
}

// Standard output may be a pipe that has a name only for its own process.
func TestAPipeKeepsItsName(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	path := fmt.Sprintf("/dev/fd/%d", w.Fd())
	if _, err := os.Stat(path); err != nil {
		return // this system has no such names
	}
	assert.Equal(t, path, Follow(path))
	o, err := Open(path, time.Time{}, false)
	require.NoError(t, err)
	require.NoError(t, o.Begin())
	require.NoError(t, o.Write(answered("a")))
	got := make([]byte, len(text(t, answered("a"))))
	_, err = io.ReadFull(r, got)
	require.NoError(t, err)
	assert.Equal(t, text(t, answered("a")), string(got))
}

// A mark that an editor put there hides no result.
func TestAByteOrderMarkHidesNothing(t *testing.T) {
	o, path := begun(t, "\xef\xbb\xbf"+text(t, answered("a"), failed("b")))
	v, known := o.Earlier().Verdict("a")
	assert.True(t, known)
	assert.Equal(t, Answered, v)
	assert.Zero(t, o.Earlier().Unreadable)
	require.NoError(t, o.Write(answered("b")))
	require.NoError(t, o.Tidy(nil))
	require.NoError(t, o.Close())
	assert.Equal(t, text(t, answered("a"), answered("b")), read(t, path))
}

// The longest answer makes a line that is read again, and a line that is too long even so is left alone wherever it stands.
func TestTheLongestLinesAreKept(t *testing.T) {
	long := answered("long")
	long.Response.Body = []byte(`{"a":"` + strings.Repeat("x", batchfile.MaxLine) + `"}`)
	o, path := begun(t, text(t, long))
	v, known := o.Earlier().Verdict("long")
	assert.True(t, known)
	assert.Equal(t, Answered, v)
	assert.Equal(t, clean, o.Earlier().tail)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Greater(t, info.Size(), int64(batchfile.MaxLine), "it is all there")

	for _, end := range []string{"", "\n"} {
		contents := text(t, answered("a")) + strings.Repeat("x", 5000) + end
		e, err := readEarlier(batchfile.NewLines(strings.NewReader(contents), 4000), time.Time{})
		require.NoError(t, err)
		assert.Equal(t, int64(len(contents)), e.end)
		assert.Equal(t, 1, e.Unreadable)
	}
}
