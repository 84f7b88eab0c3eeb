package batchfile

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func allLines(t *testing.T, l *Lines) []Line {
	t.Helper()
	var all []Line
	for {
		line, err := l.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		line.Text = bytes.Clone(line.Text)
		all = append(all, line)
	}
}

func TestLinesKeepNumbersAndOffsets(t *testing.T) {
	all := allLines(t, NewLines(strings.NewReader("a\n\nbcd\r\ne"), 0))
	require.Len(t, all, 4)
	assert.Equal(t, Line{No: 1, Offset: 0, Size: 2, Text: []byte("a"), Complete: true}, all[0])
	assert.Equal(t, Line{No: 2, Offset: 2, Text: nil, Complete: true}, Line{No: all[1].No, Offset: all[1].Offset, Complete: all[1].Complete})
	assert.Equal(t, Line{No: 3, Offset: 3, Size: 5, Text: []byte("bcd\r"), Complete: true}, all[2])
	assert.Equal(t, Line{No: 4, Offset: 8, Size: 1, Text: []byte("e"), Complete: false}, all[3])
}

func TestLinesSplitOnLineFeedsAlone(t *testing.T) {
	text := "one\u2028two\u2029three\u0085four\vfive\fsix\rseven"
	all := allLines(t, NewLines(strings.NewReader(text+"\nnext\n"), 0))
	require.Len(t, all, 2)
	assert.Equal(t, text, string(all[0].Text))
}

// The cap is exact, counts no newline, and what follows an over-long line is read as if nothing had happened.
func TestLinesPassOverLongOnes(t *testing.T) {
	const most = 600 << 10 // above the size of one read
	for _, c := range []struct {
		name    string
		size    int
		newline string
		tooLong bool
	}{
		{"just below", most - 1, "\n", false},
		{"exactly", most, "\n", false},
		{"one above", most + 1, "\n", true},
		{"far above", 5 * most, "\n", true},
		{"exactly, torn", most, "", false},
		{"one above, torn", most + 1, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "first\n" + strings.Repeat("x", c.size) + c.newline
			if c.newline != "" {
				text += "last\n"
			}
			all := allLines(t, NewLines(strings.NewReader(text), most))
			assert.Equal(t, c.tooLong, all[1].TooLong)
			if !c.tooLong {
				assert.Len(t, all[1].Text, c.size)
			}
			if c.newline != "" {
				require.Len(t, all, 3)
				assert.Equal(t, "last", string(all[2].Text))
			}
		})
	}
}

func TestLinesOfAnySizeComeWhole(t *testing.T) {
	for _, size := range []int{0, 1, 64 << 10, readSize - 1, readSize, readSize + 1, 3 * readSize} {
		text := strings.Repeat("y", size)
		all := allLines(t, NewLines(iotest.HalfReader(strings.NewReader(text+"\nz")), 0))
		require.Len(t, all, 2)
		assert.Equal(t, text, string(all[0].Text))
		assert.Equal(t, "z", string(all[1].Text))
	}
}

func TestLinesPassOnTheReadersError(t *testing.T) {
	broken := errors.New("the disk is gone")
	l := NewLines(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), 0)
	line, err := l.Next()
	require.NoError(t, err)
	assert.Equal(t, "a", string(line.Text))
	_, err = l.Next()
	assert.ErrorIs(t, err, broken)
}

func TestLinesDropABigBufferAfterItsLine(t *testing.T) {
	l := NewLines(strings.NewReader(strings.Repeat("x", 2*keepSize)+"\nshort\n"), 0)
	_, err := l.Next()
	require.NoError(t, err)
	assert.Greater(t, cap(l.copy), keepSize)
	_, err = l.Next()
	require.NoError(t, err)
	assert.Nil(t, l.copy)
}
