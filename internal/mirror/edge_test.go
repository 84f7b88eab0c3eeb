package mirror

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func promised(received, reset, grain time.Duration) *reading {
	return &reading{sent: received - 100*ms, received: received, timed: true, reset: reset, grain: grain}
}

func TestEdgeIsTheEarliestPromise(t *testing.T) {
	var e edge
	for _, r := range []*reading{promised(100*ms, 60*s, s), promised(900*ms, 59*s, s), promised(1700*ms, 59*s, s)} {
		e.hear(r)
	}
	assert.True(t, e.known)
	assert.Equal(t, 59900*ms, e.least)
	assert.Equal(t, 60700*ms, e.most)
	assert.Equal(t, 59600*ms, e.low, "the last call left at 1.6 s, and had more than 58 s to go")
}

func TestEdgeWithoutResetIsUnknown(t *testing.T) {
	var e edge
	e.hear(&reading{received: s})
	assert.False(t, e.known)
}

// A reset of zero while the window still answers: it was rounded down.
func TestResetOfZeroTellsTheRounding(t *testing.T) {
	var e edge
	e.hear(promised(s, 0, s))
	assert.Equal(t, s, e.late)
	e = edge{}
	e.hear(promised(s, 0, 0))
	assert.Zero(t, e.late, "an exact reset of zero is just the edge")
}

// Promises that cover every fraction of a second, and a new window right after the earliest of them: rounded up.
func TestPromptCrossingTellsTheRounding(t *testing.T) {
	spread := func(upTo time.Duration) (e edge) {
		for at := time.Duration(0); at <= upTo; at += 50 * ms {
			e.hear(promised(at, 60*s-at.Truncate(s), s))
		}
		return e
	}
	e := spread(950 * ms)
	e.crossed(&reading{sent: e.least + 100*ms})
	assert.True(t, e.up)
	e = spread(950 * ms)
	e.crossed(&reading{sent: e.least + 600*ms})
	assert.False(t, e.up, "half a second later the nearest rounding would do as well")
	e = spread(500 * ms)
	e.crossed(&reading{sent: e.least})
	assert.False(t, e.up, "some fraction may have been missing")
	e.forget()
	assert.Equal(t, edge{}, e)
}

// The old window answers after its supposed end: every edge of this server is later by up to a second. It costs one refusal, once.
func TestOldWindowThatOutlivesItsEdgeTellsTheRounding(t *testing.T) {
	k := newTalk(t, 20)
	for i := range 20 { // rounded down: at 0 s there are 29.5 s to go
		k.call(time.Duration(i)*100*ms, 19-float64(i), 29*s-time.Duration(i/5)*500*ms)
	}
	edge, lone := k.at(3*s, 1, 1)
	assert.True(t, lone)
	k.send(edge)
	k.refuse(edge, edge+30*ms, 0, 0)
	assert.Equal(t, undecided, k.m.law)
	again, lone := k.at(edge+100*ms, 1, 1)
	assert.Equal(t, edge+30*ms+s, again)
	assert.True(t, lone)
	k.call(again, 19, 59*s)
	assert.Equal(t, windowLaw, k.m.law)
	assert.Equal(t, s, k.m.window.edge.late, "and it is remembered")
}

// A window whose length is known ends one length after its first answer at the latest, however its resets are rounded.
func TestEdgeFromTheLength(t *testing.T) {
	k := newTalk(t, 100)
	k.m.law, k.m.limit = windowLaw, 100
	k.m.length = length{value: time.Minute, round: true}
	k.m.window.open(10 * s)
	k.m.window.opened = 10100 * ms
	at, known, sure := k.m.edgeOf()
	assert.Equal(t, 70100*ms, at)
	assert.True(t, known && sure)
	k.m.window.edge.hear(promised(10*s, 59*s, s))
	at, _, _ = k.m.edgeOf()
	assert.Equal(t, 70*s, at, "a promise and what its rounding may have cut off")
	k.m.length.round = false
	at, _, sure = k.m.edgeOf()
	assert.Equal(t, 69*s, at)
	assert.False(t, sure, "a length that was only measured proves nothing")
}

func TestAnswersOfAnotherWindow(t *testing.T) {
	k := newTalk(t, 100)
	k.m.window.edge.hear(promised(0, 10*s, s))
	k.m.window.previous = s
	tests := map[string]struct {
		r    *reading
		want place
	}{
		"of this one":            {promised(2*s, 8*s, s), this},
		"of the one before":      {promised(s, 0, s), earlier},
		"of the next":            {promised(9*s, 60*s, s), next},
		"without a reset, early": {&reading{sent: 9 * s}, this},
		"without a reset, late":  {&reading{sent: 10 * s}, next},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, k.m.place(c.r)) })
	}
}

// A slow answer tells of an earlier time, when others had not drawn yet: it is no rise. One to a later call is.
func TestHeightsCompareOnlyWithLaterCalls(t *testing.T) {
	var h heights
	h.forget()
	h.add(&reading{sent: 0, received: 100 * ms, sureHi: 100})
	h.add(&reading{sent: 200 * ms, received: 300 * ms, sureHi: 60})
	h.add(&reading{sent: 400 * ms, received: 500 * ms, sureHi: 60})
	h.add(&reading{sent: 600 * ms, received: 700 * ms, sureHi: 60})
	assert.Equal(t, 60.0, h.least)
	assert.False(t, h.below(&reading{sent: 50 * ms, sureLo: 90}, 1))
	assert.True(t, h.below(&reading{sent: 800 * ms, sureLo: 90}, 1))
	assert.False(t, h.below(&reading{sent: 800 * ms, sureLo: 61}, 1))
}
