package bank

import (
	"slices"
	"time"
)

// hint is when the server will let a call in that it has turned away, by its own words: not before from, and surely at to.
type hint struct {
	id       uint64
	from, to instant
	wait     time.Duration // from when the call left to the latter
	rough    bool          // the server's words fitted no law before: only a law that is out of all proportion to them is wrong
}

// told reads a wait that came with an answer. Whole seconds were rounded, up most likely.
func told(id uint64, sent, now instant, wait time.Duration) hint {
	h := hint{id: id, from: sent + wait, to: now + wait, wait: now + wait - sent}
	if wait%time.Second == 0 {
		h.from -= time.Second
	}
	return h
}

// hintsKept is how many of the server's words are remembered: enough for the refusals of one event.
const hintsKept = 64

// words is what the server said.
type words struct {
	hints []hint // its last ones
	edge  hint   // where a refusal was followed by a call that was let in: its deeds
	deaf  bool   // its words fit no law, and are not taken exactly any more
}

// outOfProportion is how many times longer than the server named no law of its may make a call wait, though its words be rough: many
// say one second whatever the window.
const outOfProportion = 100

// absurd is whether a wait until some moment is out of all proportion to what was said about a call.
func (h hint) absurd(sent, until instant) bool {
	return (until-sent)/outOfProportion > h.wait
}

// about is what was said about a call that was turned away.
func (w *words) about(id uint64) (h hint, ok bool) {
	for i := len(w.hints) - 1; i >= 0; i-- {
		if w.hints[i].id == id {
			h = w.hints[i]
			h.rough = w.deaf
			return h, true
		}
	}
	return h, false
}

// believed is whether the server names waits that fit some law.
func (w *words) believed() bool { return len(w.hints) > 0 && !w.deaf }

// keep remembers a hint.
func (w *words) keep(h hint) {
	if len(w.hints) == hintsKept {
		w.hints = append(w.hints[:0], w.hints[hintsKept/2:]...)
	}
	w.hints = append(w.hints, h)
}

// hear takes note of a wait that the server named. The first one names the edges of further windows too.
func (b *Bank) hear(id uint64, sent, now instant, wait time.Duration) {
	h := told(id, sent, now, wait)
	if len(b.words.hints) == 0 {
		b.name(h, wait)
		b.shorten(wait)
	}
	b.words.keep(h)
}

// name adds a window of every usual length in which the wait fits, with an edge where the wait ends.
func (b *Bank) name(h hint, wait time.Duration) {
	for _, span := range clockSpans() {
		if span > time.Second && wait <= span {
			b.laws = append(b.laws, &belief{law: newNamedWindow(span, h)})
		}
	}
}

// shorten adds logs of the seldom spans in which the wait fits.
func (b *Bank) shorten(wait time.Duration) {
	for _, span := range seldomSpans() {
		if wait <= span {
			b.laws = append(b.laws, &belief{law: newSlidingLog(span, false)})
		}
	}
}

// edge adds windows with an edge where the last refusal was followed by a call that was let in, if there was such a place.
func (b *Bank) edge() bool {
	t := &b.tape
	for i := t.judged - 1; i > b.oldest(); i-- {
		if t.sends[i-1].outcome == refused && t.sends[i].outcome == admitted {
			return b.found(hint{from: t.sends[i-1].at, to: t.sends[i].at})
		}
	}
	return false
}

// found replaces the windows that were found by an edge before.
func (b *Bank) found(h hint) bool {
	if h == b.words.edge {
		return false
	}
	b.words.edge = h
	b.laws = slices.DeleteFunc(b.laws, func(l *belief) bool { return l.found && l != b.obeyed })
	n := len(b.laws)
	b.name(h, h.to-h.from)
	for _, l := range b.laws[n:] {
		l.found = true
	}
	return len(b.laws) > n
}
