package redisbudget

import (
	"errors"
	"strconv"
	"time"
)

// reply is what the script answers. Times are from the moment it ran.
type reply struct {
	epoch    string
	declared string // the policies that count, where they are not ours
	server   time.Time
	live     int           // processes
	ttl      time.Duration // the state lives that long if nobody asks again
	hold     time.Duration // nothing may leave for that long
	changed  float64       // when that was last said, by the server's clock in microseconds; negative: that nothing is held; 0 = never
	quiet    time.Duration // not everybody may be back for that long
	linger   time.Duration // how long calls wait for others before they ask together
	wait     time.Duration // until there would be a slot, if it is beyond the horizon; negative: never
	slots    []grant
	seen     []sight // by policy
}

// grant is a slot: from when until when it may be used.
type grant struct{ from, until time.Duration }

// sight is what was seen of one budget.
type sight struct {
	used, free float64
	next       time.Duration // until one more is free
	most       float64       // what it can ever hold
	spent      []spell       // when what is used was taken, oldest first; nothing for a bucket
}

// spell is units that were taken at one time, or about then.
type spell struct {
	age time.Duration // negative if that lies ahead
	n   float64
}

var errReply = errors.New("redisbudget: Redis gave an answer that the script does not give: does something else use these keys?")

// words reads the fields of an answer one by one. The first that is not as it should be spoils the rest.
type words struct {
	left []any
	bad  bool
}

func (w *words) next() any {
	if len(w.left) == 0 {
		w.bad = true
		return nil
	}
	x := w.left[0]
	w.left = w.left[1:]
	return x
}

func (w *words) text() string {
	s, ok := w.next().(string)
	w.bad = w.bad || !ok
	return s
}

func (w *words) number() float64 {
	x, err := strconv.ParseFloat(w.text(), 64)
	w.bad = w.bad || err != nil
	return x
}

func (w *words) whole() int64 {
	n, ok := w.next().(int64)
	w.bad = w.bad || !ok
	return n
}

func (w *words) list() *words {
	l, ok := w.next().([]any)
	w.bad = w.bad || !ok
	return &words{left: l}
}

// longest is the most that a span is taken for: as many microseconds as a Duration holds, two centuries and more.
const longest = 9.2e15

func (w *words) span() time.Duration {
	return time.Duration(max(-longest, min(w.number(), longest)) * 1e3)
}

// parse reads an answer. A ShapeError has no key yet.
func parse(raw any) (*reply, error) {
	all, _ := raw.([]any)
	w := &words{left: all}
	switch w.text() {
	case "ok":
	case "shape":
		return nil, &ShapeError{Theirs: w.text()}
	default:
		return nil, errReply
	}
	r := &reply{epoch: w.text(), declared: w.text(), server: time.UnixMicro(int64(w.number())), live: int(w.whole()),
		ttl: w.span(), hold: w.span(), changed: w.number(), quiet: w.span(), linger: w.span(), wait: w.span()}
	slots, seen := w.list(), w.list()
	for len(slots.left) > 0 {
		r.slots = append(r.slots, grant{from: slots.span(), until: slots.span()})
	}
	for len(seen.left) > 0 {
		one := seen.list()
		r.seen = append(r.seen, one.sight())
		seen.bad = seen.bad || one.bad
	}
	if w.bad || slots.bad || seen.bad {
		return nil, errReply
	}
	return r, nil
}

func (w *words) sight() sight {
	s := sight{used: w.number(), free: w.number(), next: w.span(), most: w.number()}
	spent := w.list()
	for len(spent.left) > 0 {
		s.spent = append(s.spent, spell{age: spent.span(), n: spent.number()})
	}
	w.bad = w.bad || spent.bad || len(w.left) > 0
	return s
}
