package headers

import (
	"math"
	"net/http"
	"time"
)

// ParseReset reads one value of a reset header as Parse does, for hooks that know a header of their own: a number of seconds
// from now, a Unix time in s, ms, µs or ns, a duration such as 6m0s, or a date. Moments are measured against h's Date, or
// against now. Unknown when the value is none of these or lies above 366 days; a moment that has passed is 0.
func ParseReset(value string, h http.Header, now time.Time) Maybe[time.Duration] {
	rd := reading{h: h, now: now, unit: time.Second}
	d, _, ok := rd.resetOf(trim(value))
	return maybe(d, ok)
}

// delayBy moves q's reset to the latest among the lines of a reset header.
func (rd *reading) delayBy(q *Quota, lines []string) {
	for _, line := range lines {
		rd.delayByText(q, line)
	}
}

// delayByText moves q's reset to what the text says, if that is later.
func (rd *reading) delayByText(q *Quota, text string) {
	if d, grain, ok := rd.resetOf(trim(text)); ok {
		q.delay(d, grain)
	}
}

// resetOf decides by the value, never by the header's name, what a reset means: servers use one name for seconds and for
// moments alike.
func (rd *reading) resetOf(s string) (d, grain time.Duration, ok bool) {
	if n, ok := parseDecimal(s); ok {
		return rd.numericReset(n)
	}
	if d, grain, ok := parseDuration(s); ok {
		return d, grain, true
	}
	if m, ok := parseMoment(s); ok {
		return rd.untilMoment(m)
	}
	if part, ok := repeated(s); ok {
		return rd.resetOf(part)
	}
	text, _ := sameItem(s)
	n, ok := parseDecimal(text)
	if !ok {
		return 0, 0, false
	}
	return rd.numericReset(n)
}

// numericReset reads a bare number: as a length if that is at most 366 days, else as the Unix time that lies nearest. The
// distance decides and not the magnitude: real lengths reach into the millions, and virtual clocks start anywhere.
func (rd *reading) numericReset(n decimal) (d, grain time.Duration, ok bool) {
	if d, ok := n.times(rd.unit); ok {
		return d, n.grain(rd.unit), true
	}
	c := rd.clock()
	for _, unit := range [...]time.Duration{time.Second, time.Millisecond, time.Microsecond, time.Nanosecond} {
		m, ok := n.moment(unit)
		if !ok {
			continue
		}
		if d, ok := c.until(m); ok {
			return max(d, 0), m.grain + c.grain, true
		}
	}
	return 0, 0, false
}

// moment is d units after the Unix epoch.
func (d decimal) moment(unit time.Duration) (moment, bool) {
	perSecond := uint64(time.Second / unit)
	if d.whole/perSecond > math.MaxInt64/2 {
		return moment{}, false
	}
	nsec := int64(d.whole%perSecond)*int64(unit) + d.nano/int64(perSecond)
	return moment{int64(d.whole / perSecond), nsec, d.grain(unit)}, true
}

// untilMoment is the length until a date. One that has passed means that the wait is over, however long ago; one more than
// 366 days ahead is a fault.
func (rd *reading) untilMoment(m moment) (d, grain time.Duration, ok bool) {
	c := rd.clock()
	grain = m.grain + c.grain
	if m.sec < c.sec {
		return 0, grain, true
	}
	d, ok = c.until(m)
	return max(d, 0), grain, ok
}
