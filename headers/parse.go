package headers

import (
	"net/http"
	"time"
)

// Parse reads what an answer says about limits and waits. It never fails: what it cannot read is absent, what is absurd
// (negative, not a number, above 366 days) is absent too. now is the local time the answer arrived, against which moments are
// measured if the answer has no usable Date header. The status plays no part in any rule so far: servers refuse with many, and
// tell their limits with all. h is not changed and may be nil.
func Parse(h http.Header, status int, now time.Time) Report {
	var r Report
	ParseInto(&r, h, status, now)
	return r
}

// ParseInto is Parse into a report that is used again: all of r is overwritten, the memory of r.Quotas reused. The families of
// nearly all traffic are then read without allocating.
func ParseInto(r *Report, h http.Header, status int, now time.Time) {
	rd := reading{h: h, now: now, unit: time.Second}
	rd.report.Quotas = r.Quotas[:0]
	rd.read()
	*r = rd.report
}

// reading is the work on one answer. Headers that concern one quota each are read as the scan meets them; those that must be
// seen together (a trio, its policies, its name) wait in lines until the scan is over.
type reading struct {
	report Report // by value: with a pointer here the compiler would move every caller's Report to the heap
	h      http.Header
	now    time.Time
	unit   time.Duration // of a reset that is a bare number
	base   clock         // taken when the first moment is met

	few     [6]kept // the first of them in the first n places
	n       int
	more    []kept
	taken   int           // how many passed the gate
	told    int           // how many of those may tell something
	seen    uint64        // bit i: something is kept for slot i
	marks   uint64        // bit i: an answer of vendors[i]
	aliases []alias       // of policies
	plain   [plains]uint8 // 1 + where each plain quota stands in the report; 0 = not there yet

	aged      bool // has an Age
	stale     bool // served from a cache: its counts are old
	odd       bool // a name was not spelled as net/http spells it
	canonical bool // names have been respelled: no further try
}

func (rd *reading) read() {
	if rd.scan(); rd.odd {
		rd.respell()
		rd.scan()
	}
	rd.finish()
}

// clock is the time of the answer.
func (rd *reading) clock() clock {
	if !rd.base.known {
		rd.base = clockOf(rd.h, rd.now)
	}
	return rd.base
}

// scan looks at every header once, in the random order of the map. The gate lets few of them through to the costlier checks.
func (rd *reading) scan() {
	for name, lines := range rd.h {
		if len(name) < 4 {
			rd.age(name, lines)
			continue
		}
		if knownNames.admits(name) {
			rd.take(name, lines)
		}
	}
}

// take reads or stores one header. Names are compared as net/http spells them, which is fast; a header that matches nothing
// may be one that somebody put into the map by hand, and then all is read again with the names put right.
func (rd *reading) take(name string, lines []string) {
	if rd.taken++; rd.taken > mostHeaders {
		return
	}
	rd.told++
	lines = usable(lines)
	if f, which := common(name); f != noFact {
		rd.quantity(f, &plainSubjects[which], lines)
		return
	}
	switch s, ok := places[name]; {
	case !ok && !rd.canonical && !isCanonical(name):
		rd.odd = true
	case !ok:
		rd.qualified(name, lines)
	case s < slotNothing:
		rd.keep(s, lines)
	case s == slotNothing:
		rd.told--
	default:
		rd.marks |= 1 << (s - slots)
	}
}

// What one answer may make us read. Servers keep whole headers below 16 KiB, and real answers have up to thirty headers that
// pass the gate; net/http lets ten megabytes through.
const (
	longestValue = 16 << 10 // bytes of all lines of a header
	mostHeaders  = 256      // that pass the gate
)

// usable are the lines up to the one with which the header becomes too long to be real.
func usable(lines []string) []string {
	size := 0
	for i, line := range lines {
		if size += len(line); size > longestValue {
			return lines[:i]
		}
	}
	return lines
}

// kept are the lines of one header.
type kept struct {
	slot  slot
	lines []string
}

// keep stores the lines of a header until the scan is over. Only an answer of many families has more headers to keep than fit
// without allocating.
func (rd *reading) keep(s slot, lines []string) {
	rd.seen |= 1 << s
	if rd.n < len(rd.few) {
		rd.few[rd.n] = kept{s, lines}
		rd.n++
		return
	}
	rd.more = append(rd.more, kept{s, lines})
}

// lines are the lines kept in a slot. Headers that share a slot, or came in several spellings, are told as one.
func (rd *reading) lines(s slot) (lines []string) {
	if rd.seen>>s&1 == 0 {
		return nil
	}
	for _, list := range [...][]kept{rd.few[:rd.n], rd.more} {
		for i := range list {
			if list[i].slot == s {
				lines = join(lines, list[i].lines)
			}
		}
	}
	return lines
}

// join is a and b, not copied if one is empty.
func join(a, b []string) []string {
	if len(a) == 0 {
		return b
	}
	return append(a[:len(a):len(a)], b...)
}

// age notes an answer that has lain in a cache (RFC 9111, section 5.1).
func (rd *reading) age(name string, lines []string) {
	if len(name) != 3 || http.CanonicalHeaderKey(name) != "Age" {
		return
	}
	rd.aged = true
	for _, line := range lines {
		if n, ok := number(trim(line)); ok && n > 0 {
			rd.stale = true
		}
	}
}

// respell starts anew with a copy of the header whose names are canonical.
func (rd *reading) respell() {
	h := make(http.Header, len(rd.h))
	for name, lines := range rd.h {
		name = http.CanonicalHeaderKey(name)
		h[name] = join(h[name], lines)
	}
	*rd = reading{h: h, now: rd.now, unit: rd.unit, canonical: true, report: Report{Quotas: rd.report.Quotas[:0]}}
}

// isCanonical reports whether net/http would spell the name so: a capital at the start and after each hyphen, none elsewhere.
func isCanonical(name string) bool {
	start := true
	for i := range len(name) {
		c := name[i]
		if start && c-'a' < 26 || !start && c-'A' < 26 {
			return false
		}
		start = c == '-'
	}
	return true
}

// finish puts together what the scan has stored.
func (rd *reading) finish() {
	if rd.seen&waits != 0 {
		rd.report.RetryAfter = rd.retryAfter()
		rd.report.ShouldRetry = rd.shouldRetry()
	}
	if rd.stale || rd.seen&(1<<slotFromCache) != 0 {
		rd.report.Quotas = rd.report.Quotas[:0]
		return
	}
	if rd.seen&^waits != 0 {
		rd.unqualified()
	}
	if rd.marks != 0 {
		rd.vendors()
	}
}
