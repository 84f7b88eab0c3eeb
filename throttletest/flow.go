package throttletest

import (
	"bytes"
	"errors"
	"io"
	"time"
)

// flow is the body of an answer as it leaves the server, piece by piece.
type flow struct {
	pieces []piece
	pad    int64 // bytes of white space after the pieces; below zero without end
	drip   time.Duration
	torn   bool
	rest   int64 // bytes until it breaks, if torn
}

// piece is bytes and the time before them.
type piece struct {
	gap  time.Duration
	data []byte
}

// errTorn is the end of a flow that breaks.
var errTorn = errors.New("throttletest: the connection breaks here")

const (
	dripSize = 64       // bytes of a piece that drips: small against any buffer
	padSize  = 32 << 10 // bytes of a piece of padding, as net/http copies them
)

// spaces is read only.
var spaces = bytes.Repeat([]byte{' '}, padSize)

func unary(data []byte) *flow { return &flow{pieces: []piece{{0, data}}} }

// suffer changes the flow as a fault wants it.
func (f *flow) suffer(t *Fault) {
	if t == nil {
		return
	}
	if t.Body != nil {
		f.pieces = []piece{{0, t.Body}}
	}
	f.pad, f.drip, f.torn, f.rest = t.Pad, max(0, t.Drip), t.Torn, max(0, t.After)
	if f.drip > 0 {
		f.pieces = slice(f.pieces)
	}
}

// slice cuts pieces into small ones.
func slice(pieces []piece) (out []piece) {
	for _, p := range pieces {
		for len(p.data) > dripSize {
			out = append(out, piece{p.gap, p.data[:dripSize]})
			p = piece{0, p.data[dripSize:]}
		}
		out = append(out, p)
	}
	return out
}

// next is the next piece; io.EOF at the end, errTorn where it breaks.
func (f *flow) next() (piece, error) {
	if f.torn && f.rest == 0 {
		return piece{}, errTorn
	}
	p, ok := f.cut()
	if !ok {
		return piece{}, f.end()
	}
	if f.torn {
		p.data = p.data[:min(int64(len(p.data)), f.rest)]
		f.rest -= int64(len(p.data))
	}
	p.gap += f.drip
	return p, nil
}

// end is how a flow ends that has no more bytes. One that was to break later than that breaks now.
func (f *flow) end() error {
	if f.torn {
		return errTorn
	}
	return io.EOF
}

func (f *flow) cut() (piece, bool) {
	if len(f.pieces) > 0 {
		p := f.pieces[0]
		f.pieces = f.pieces[1:]
		return p, true
	}
	switch {
	case f.pad < 0:
		return piece{0, spaces}, true
	case f.pad > 0:
		n := min(f.pad, padSize)
		f.pad -= n
		return piece{0, spaces[:n]}, true
	}
	return piece{}, false
}

// length is the bytes that the flow promises, -1 if it never ends.
func (f *flow) length() int64 {
	if f.pad < 0 {
		return -1
	}
	n := f.pad
	for _, p := range f.pieces {
		n += int64(len(p.data))
	}
	return n
}

// instant says whether the whole body leaves the server at once.
func (f *flow) instant() bool { return f.pad == 0 && f.drip == 0 && len(f.pieces) <= 1 }

// lasts is the time from the first to the last byte, if it ends at all.
func (f *flow) lasts() (d time.Duration, ends bool) {
	if f.pad < 0 && !f.torn {
		return 0, false
	}
	for c := *f; ; {
		p, err := c.next()
		if err != nil {
			return d, true
		}
		d += p.gap
	}
}
