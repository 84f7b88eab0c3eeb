package headers

import (
	"net/http"
	"strings"
	"time"
)

// ParseWait reads the lines of a header that holds a wait, as Parse reads Retry-After, for hooks that know a header of their
// own: seconds, a duration or a date; the longest of several. Dates are measured against h's Date, or against now. Unknown
// when no line holds a wait of at most 366 days.
func ParseWait(lines []string, h http.Header, now time.Time) Maybe[time.Duration] {
	rd := reading{h: h, now: now}
	return rd.longestWait(lines, time.Second)
}

// retryAfter is the wait that the server asks for. Where milliseconds are given, the seconds beside them are their rounding.
func (rd *reading) retryAfter() Maybe[time.Duration] {
	wait := rd.longestWait(rd.lines(slotMilli), time.Millisecond)
	if w := rd.longestWait(rd.lines(slotMicrosoftMilli), time.Millisecond); w.Known {
		raise(&wait, w.Value)
	}
	if wait.Known {
		return wait
	}
	wait = rd.longestWait(rd.lines(slotRetryAfter), time.Second)
	if w := rd.longestWait(rd.lines(slotRetryAfterX), time.Second); w.Known {
		raise(&wait, w.Value)
	}
	return wait
}

// longestWait is the longest among the lines that can be read: only that satisfies all who sent one.
func (rd *reading) longestWait(lines []string, unit time.Duration) (longest Maybe[time.Duration]) {
	for _, line := range lines {
		if d, ok := rd.waitOf(trim(line), unit); ok {
			raise(&longest, d)
		}
	}
	return longest
}

// waitOf reads a number of units, a list of numbers that a proxy joined, or, where the unit is the second as in Retry-After
// (RFC 9110, section 10.2.3), a date or a duration.
func (rd *reading) waitOf(s string, unit time.Duration) (time.Duration, bool) {
	if n, ok := parseDecimal(s); ok {
		return n.times(unit)
	}
	if unit == time.Second {
		if d, _, ok := parseDuration(s); ok {
			return d, true
		}
		if m, ok := parseMoment(s); ok {
			d, _, ok := rd.untilMoment(m)
			return d, ok
		}
	}
	if part, ok := repeated(s); ok {
		return rd.waitOf(part, unit)
	}
	return largestOf(s, unit)
}

// largestOf reads "5, 60": the largest, but only if every part is a number.
func largestOf(s string, unit time.Duration) (largest time.Duration, ok bool) {
	if strings.IndexByte(s, ',') < 0 {
		return 0, false
	}
	for part := range strings.SplitSeq(s, ",") {
		n, ok := parseDecimal(trim(part))
		if !ok {
			return 0, false
		}
		d, ok := n.times(unit)
		if !ok {
			return 0, false
		}
		largest = max(largest, d)
	}
	return largest, true
}

// shouldRetry is the server's verdict. Where lines contradict each other, no repetition is the safe reading.
func (rd *reading) shouldRetry() (verdict Maybe[bool]) {
	for _, line := range rd.lines(slotShouldRetry) {
		switch line = trim(line); {
		case strings.EqualFold(line, "false"):
			return Some(false)
		case strings.EqualFold(line, "true"):
			verdict = Some(true)
		}
	}
	return verdict
}
