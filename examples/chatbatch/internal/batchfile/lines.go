package batchfile

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxLine is the default cap on a line, in bytes without its newline: 64 MiB, above any chat request that a service accepts (inline images
// included) and low enough that a file of zeros without a newline cannot exhaust the memory.
const MaxLine = 64 << 20

const (
	readSize = 256 << 10 // bytes read at once; lines within it are handed out without a copy
	keepSize = 1 << 20   // the copy buffer above this size is given up after its line, so one huge line does not stay in memory
)

// Line is one line of a file.
type Line struct {
	No       int    // counted from 1, blank lines included
	Offset   int64  // bytes before the line
	Size     int64  // bytes of the line itself, its newline included
	Text     []byte // without the newline; valid until the next call of Next
	TooLong  bool   // above the cap: Text is empty and the line was passed over
	Complete bool   // it ended in a newline
}

// Lines cuts a stream at line feeds and at nothing else, so that the other line separators of Unicode stay inside their strings.
type Lines struct {
	in   *bufio.Reader
	max  int
	no   int
	off  int64
	copy []byte
}

// NewLines reads from r. Lines above maxLine bytes are passed over and marked; zero means MaxLine.
func NewLines(r io.Reader, maxLine int) *Lines {
	if maxLine <= 0 {
		maxLine = MaxLine
	}
	return &Lines{in: bufio.NewReaderSize(r, readSize), max: maxLine}
}

// Next returns the next line, io.EOF after the last, or the error of the reader.
func (l *Lines) Next() (Line, error) {
	if cap(l.copy) > keepSize {
		l.copy = nil
	}
	text, n, err := l.read()
	if err != nil && (!errors.Is(err, io.EOF) || n == 0) {
		return Line{}, err
	}
	l.no++
	line := Line{No: l.no, Offset: l.off, Size: int64(n), Text: text, Complete: err == nil}
	line.TooLong = n > l.max+1 || (n > l.max && !line.Complete)
	if line.TooLong {
		line.Text = nil
	}
	l.off += int64(n)
	return line, nil
}

// read returns the bytes up to a newline, without it, and how many bytes there were with it. Of an over-long line it keeps no more than the cap.
func (l *Lines) read() (text []byte, n int, err error) {
	piece, err := l.in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return bytes.TrimSuffix(piece, []byte("\n")), len(piece), err
	}
	l.copy = l.copy[:0]
	for {
		n += len(piece)
		if n <= l.max+1 {
			l.copy = append(l.copy, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSuffix(l.copy, []byte("\n")), n, err
		}
		piece, err = l.in.ReadSlice('\n')
	}
}

// SkipMark passes over a UTF-8 byte order mark at the start of the stream; it counts as no line's text.
func (l *Lines) SkipMark() {
	if head, _ := l.in.Peek(3); string(head) == "\xef\xbb\xbf" {
		n, _ := l.in.Discard(3)
		l.off += int64(n)
	}
}

// head shows the first bytes without reading them.
func (l *Lines) head() []byte {
	head, _ := l.in.Peek(4)
	return head
}
