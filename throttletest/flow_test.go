package throttletest

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// drain is all that a flow gives, with at most limit bytes of an endless one.
func drain(f *flow, limit int) (data []byte, took time.Duration, err error) {
	for len(data) < limit {
		p, err := f.next()
		if err != nil {
			return data, took, err
		}
		data = append(data, p.data...)
		took += p.gap
	}
	return data, took, nil
}

func TestFlows(t *testing.T) {
	text := make([]byte, 200)
	gapped := func() *flow { return &flow{pieces: []piece{{time.Second, text[:150]}, {time.Second, text[150:]}}} }
	for name, c := range map[string]struct {
		flow   *flow
		fault  *Fault
		bytes  int
		took   time.Duration
		length int64
		err    error
	}{
		"whole":           {unary(text), nil, 200, 0, 200, io.EOF},
		"in pieces":       {gapped(), nil, 200, 2 * time.Second, 200, io.EOF},
		"other body":      {unary(text), &Fault{Body: []byte("no")}, 2, 0, 2, io.EOF},
		"empty body":      {unary(text), &Fault{Body: []byte{}}, 0, 0, 0, io.EOF},
		"torn":            {unary(text), &Fault{Torn: true, After: 7}, 7, 0, 200, errTorn},
		"torn at once":    {unary(text), &Fault{Torn: true}, 0, 0, 200, errTorn},
		"torn before it":  {unary(text), &Fault{Torn: true, After: -1, Drip: -1}, 0, 0, 200, errTorn},
		"torn at the end": {unary(text), &Fault{Torn: true, After: 900}, 200, 0, 200, errTorn},
		"dripping":        {unary(text), &Fault{Drip: time.Second}, 200, 4 * time.Second, 200, io.EOF},
		"drips of events": {gapped(), &Fault{Drip: time.Second}, 200, 6 * time.Second, 200, io.EOF},
		"padded":          {unary(text), &Fault{Pad: 100_000}, 100_200, 0, 100_200, io.EOF},
		"padded and torn": {unary(text), &Fault{Pad: 100_000, Torn: true, After: 50_000}, 50_000, 0, 100_200, errTorn},
	} {
		t.Run(name, func(t *testing.T) {
			c.flow.suffer(c.fault)
			assert.Equal(t, c.length, c.flow.length())
			d, ends := c.flow.lasts()
			assert.True(t, ends)
			assert.Equal(t, c.took, d)
			data, took, err := drain(c.flow, 1<<20)
			assert.Len(t, data, c.bytes)
			assert.Equal(t, c.took, took)
			assert.Equal(t, c.err, err)
		})
	}
}

func TestAnEndlessFlow(t *testing.T) {
	f := unary([]byte("x"))
	f.suffer(&Fault{Pad: -1, Drip: time.Second})
	_, ends := f.lasts()
	assert.False(t, ends)
	assert.Equal(t, int64(-1), f.length())
	data, took, err := drain(f, 1<<20)
	assert.NoError(t, err)
	assert.GreaterOrEqual(t, len(data), 1<<20)
	assert.Equal(t, 33*time.Second, took, "one byte, then 32 KiB a second")
}

func TestAnEndlessFlowMayBreak(t *testing.T) {
	f := unary(nil)
	f.suffer(&Fault{Pad: -1, Drip: time.Second, Torn: true, After: 2*padSize + 1})
	d, ends := f.lasts()
	assert.True(t, ends)
	assert.Equal(t, 4*time.Second, d, "nothing, two pieces, and a byte")
	data, _, err := drain(f, 1<<20)
	assert.Len(t, data, 2*padSize+1)
	assert.Equal(t, errTorn, err)
}

func TestWhatLeavesAtOnce(t *testing.T) {
	assert.True(t, unary(nil).instant())
	for _, fault := range []Fault{{Pad: 1}, {Pad: -1}, {Drip: 1}} {
		f := unary([]byte("x"))
		f.suffer(&fault)
		assert.False(t, f.instant())
	}
	assert.False(t, (&flow{pieces: make([]piece, 2)}).instant())
}
