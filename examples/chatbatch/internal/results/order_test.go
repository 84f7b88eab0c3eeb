package results

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOrderWritesByNumber(t *testing.T) {
	const n = 500
	var w, want bytes.Buffer
	o := NewOrder(To(&w), n)
	for i := range n {
		require.True(t, o.Reserve(nil))
		if i%7 != 0 {
			want.WriteString(text(t, answered(strconv.Itoa(i))))
		}
	}
	for _, i := range rand.Perm(n) {
		l := answered(strconv.Itoa(i))
		if i%7 == 0 { // there is no result of these
			require.NoError(t, o.Put(i, nil))
			continue
		}
		require.NoError(t, o.Put(i, &l))
	}
	assert.Equal(t, want.String(), w.String())
	assert.Empty(t, o.held)
}

func TestOrderGivesAPlaceBackForEachLineWritten(t *testing.T) {
	var w bytes.Buffer
	o := NewOrder(To(&w), 2)
	l := answered("a")
	require.True(t, o.Reserve(nil))
	require.True(t, o.Reserve(nil))
	require.NoError(t, o.Put(1, &l))
	assert.Len(t, o.free, 2, "number 1 waits for number 0, and so does its place")
	assert.Zero(t, w.Len())
	require.NoError(t, o.Put(0, &l))
	assert.Empty(t, o.free)
}

func TestReserveEndsWithTheJob(t *testing.T) {
	done := make(chan struct{})
	o := NewOrder(To(io.Discard), 1)
	require.True(t, o.Reserve(done))
	close(done)
	assert.False(t, o.Reserve(done), "the window is full")
	assert.False(t, Unordered{To(io.Discard)}.Reserve(done))
	assert.True(t, Unordered{To(io.Discard)}.Reserve(nil))
}

func TestFlushWritesWhatIsHeld(t *testing.T) {
	var w bytes.Buffer
	o := NewOrder(To(&w), 10)
	for i := range 10 {
		require.True(t, o.Reserve(nil))
		if i == 0 || i == 5 {
			continue // never ended
		}
		l := answered(strconv.Itoa(i))
		require.NoError(t, o.Put(i, &l))
	}
	assert.Zero(t, w.Len())
	require.NoError(t, o.Flush())
	require.NoError(t, o.Flush())
	assert.Equal(t, 8, bytes.Count(w.Bytes(), []byte("\n")))
	assert.Less(t, bytes.Index(w.Bytes(), []byte(`"4"`)), bytes.Index(w.Bytes(), []byte(`"6"`)))
}

func TestUnorderedWritesAtOnce(t *testing.T) {
	var w bytes.Buffer
	u := Unordered{To(&w)}
	l := answered("x")
	require.NoError(t, u.Put(7, &l))
	require.NoError(t, u.Put(8, nil))
	assert.Equal(t, text(t, l), w.String())
}

func TestOrderPassesOnAFailedWrite(t *testing.T) {
	o := NewOrder(To(failingWriter{}), 1)
	require.True(t, o.Reserve(nil))
	l := answered("a")
	assert.ErrorContains(t, o.Put(0, &l), "broken pipe")
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errBroken }
