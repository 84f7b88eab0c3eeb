package throttletest

import (
	"fmt"
	"math"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// Limit says what a server enforces: how much, over what, and how it is counted. It is a value; the constructors make it and the
// methods return changed copies. The zero Limit is not valid.
type Limit struct {
	kind          kind
	units         float64 // per window; places for Concurrency
	window, step  time.Duration
	phase         time.Duration
	burst         float64 // TokenBucket; 0 = units
	depth         float64 // LeakyQueue
	unit, name    string
	drawn         float64
	silent, harsh bool
	changes       []change
}

// kind is a way to count.
type kind uint8

const (
	noKind kind = iota
	kindFixed
	kindOpened
	kindLog
	kindCounter
	kindBucket
	kindLeaky
	kindSlots
	kindQuantised
)

// change is a new limit from a moment after the first call on.
type change struct {
	after time.Duration
	units float64
}

// FixedWindow admits units in every window of the clock; the windows begin at multiples of their length since the Unix epoch,
// moved by WithPhase.
func FixedWindow(units float64, window time.Duration) Limit {
	return Limit{kind: kindFixed, units: units, window: window}
}

// OpenedWindow admits units in windows that are opened by the first call after the last one ended.
func OpenedWindow(units float64, window time.Duration) Limit {
	return Limit{kind: kindOpened, units: units, window: window}
}

// Daily admits units per day, counted from midnight UTC.
func Daily(units float64) Limit { return FixedWindow(units, 24*time.Hour) }

// Quantised announces units per window and enforces the same share of them in every step: Quantised(600, time.Minute,
// time.Second) admits 10 in each second. The step divides the window.
func Quantised(units float64, window, step time.Duration) Limit {
	return Limit{kind: kindQuantised, units: units, window: window, step: step}
}

// SlidingLog never admits more than units in any span of window.
func SlidingLog(units float64, window time.Duration) Limit {
	return Limit{kind: kindLog, units: units, window: window}
}

// SlidingCounter estimates a sliding log from the counts of this clock window and the one before.
func SlidingCounter(units float64, window time.Duration) Limit {
	return Limit{kind: kindCounter, units: units, window: window}
}

// TokenBucket refills units per window, evenly, and holds up to burst of them; burst 0 means units. It is GCRA by another name;
// with burst 1 it admits no two calls closer than window/units.
func TokenBucket(units float64, window time.Duration, burst float64) Limit {
	return Limit{kind: kindBucket, units: units, window: window, burst: burst}
}

// LeakyQueue serves units per window, one after the other, and keeps up to depth more waiting; what comes beyond is refused.
func LeakyQueue(units float64, window time.Duration, depth float64) Limit {
	return Limit{kind: kindLeaky, units: units, window: window, depth: depth}
}

// Concurrency admits up to places calls at once. It is not announced, as such limits seldom are, but for Announced.
func Concurrency(places float64) Limit {
	return Limit{kind: kindSlots, units: places, window: time.Second, silent: true}
}

// Of makes it a limit on another unit than requests: one of the names in package budget, or any that a cost function gives.
func (l Limit) Of(unit string) Limit { l.unit = unit; return l }

// Named gives the limit the name under which it is announced.
func (l Limit) Named(name string) Limit { l.name = name; return l }

// WithPhase moves the edges of clock windows by d.
func (l Limit) WithPhase(d time.Duration) Limit { l.phase = d; return l }

// WithDrawn starts with n units that somebody else has drawn before the first call.
func (l Limit) WithDrawn(n float64) Limit { l.drawn = n; return l }

// ChangedTo changes the limit to units at a time after the first call. It may be used several times, in order of time.
// The burst of a bucket follows if it was the limit.
func (l Limit) ChangedTo(units float64, after time.Duration) Limit {
	l.changes = append(l.changes[:len(l.changes):len(l.changes)], change{after, units})
	return l
}

// Announced tells the limit in the headers. Only Concurrency needs it, which is then announced as a limit on "concurrent-requests", in
// dialects that have units (draft-ietf-httpapi-ratelimit-headers-10).
func (l Limit) Announced() Limit { l.silent = false; return l }

// Unannounced keeps the limit out of the headers. It is enforced all the same.
func (l Limit) Unannounced() Limit { l.silent = true; return l }

// CountingRefusals charges refused calls too.
func (l Limit) CountingRefusals() Limit { l.harsh = true; return l }

// unitOf is what the limit counts.
func (l Limit) unitOf() string {
	if l.unit == "" {
		return budget.Requests
	}
	return l.unit
}

// announcedUnit is what the headers call it.
func (l Limit) announcedUnit() string {
	if l.kind == kindSlots && l.unit == "" {
		return "concurrent-requests"
	}
	return l.unitOf()
}

// law is a fresh state of the limit.
func (l Limit) law() law {
	t := tally{limit: l.units}
	switch l.kind {
	case kindOpened:
		return &openedWindow{tally: t, window: l.window}
	case kindLog:
		return &slidingLog{tally: t, window: l.window}
	case kindCounter:
		return &slidingCounter{tally: t, window: l.window, phase: l.phase}
	case kindBucket:
		return l.bucket()
	case kindLeaky:
		return &leakyQueue{limit: l.units, depth: l.depth, window: l.window}
	case kindSlots:
		return &concurrency{limit: l.units}
	case kindQuantised:
		whole := fixedWindow{tally: t, window: l.window, phase: l.phase}
		step := fixedWindow{tally: tally{limit: l.units * float64(l.step) / float64(l.window)}, window: l.step, phase: l.phase}
		return &quantised{step: step, whole: whole}
	default:
		return &fixedWindow{tally: t, window: l.window, phase: l.phase}
	}
}

func (l Limit) bucket() *tokenBucket {
	b := &tokenBucket{limit: l.units, burst: l.burst, window: l.window}
	if l.burst == 0 {
		b.burst, b.tied = l.units, true
	}
	return b
}

// check says what is wrong with the limit.
func (l Limit) check() error {
	switch {
	case l.kind == noKind:
		return fmt.Errorf("an empty Limit: use a constructor such as FixedWindow")
	case !positive(l.units):
		return fmt.Errorf("a limit of %v units: it must be positive and finite", l.units)
	case l.window <= 0:
		return fmt.Errorf("a window of %v: it must be positive", l.window)
	case l.kind == kindQuantised && (l.step <= 0 || l.window%l.step != 0):
		return fmt.Errorf("a step of %v in a window of %v: it must divide the window", l.step, l.window)
	case l.kind == kindQuantised && l.units*float64(l.step)/float64(l.window) < 1:
		return fmt.Errorf("%v units per %v in steps of %v: no step would hold one", l.units, l.window, l.step)
	case !natural(l.burst) || !natural(l.depth) || !natural(l.drawn):
		return fmt.Errorf("burst %v, depth %v, drawn %v: none may be negative or infinite", l.burst, l.depth, l.drawn)
	}
	for i, c := range l.changes {
		if !positive(c.units) || c.after <= 0 || i > 0 && c.after <= l.changes[i-1].after {
			return fmt.Errorf("a change to %v units after %v: positive, finite, and in order of time", c.units, c.after)
		}
	}
	return nil
}

// natural says whether x is zero or more, and finite.
func natural(x float64) bool { return x == 0 || positive(x) }

func positive(x float64) bool { return x > 0 && !math.IsInf(x, 1) }
