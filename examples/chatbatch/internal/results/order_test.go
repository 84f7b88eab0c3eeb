package results

import (
	"bytes"
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
		o.Free() <- struct{}{}
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
	o.Free() <- struct{}{}
	o.Free() <- struct{}{}
	require.NoError(t, o.Put(1, &l))
	assert.Len(t, o.free, 2, "number 1 waits for number 0, and so does its place")
	assert.Zero(t, w.Len())
	require.NoError(t, o.Put(0, &l))
	assert.Empty(t, o.free)
}

func TestOrderPassesOnAFailedWrite(t *testing.T) {
	o := NewOrder(To(failingWriter{}), 1)
	o.Free() <- struct{}{}
	l := answered("a")
	assert.ErrorContains(t, o.Put(0, &l), "broken pipe")
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errBroken }
