package headers

import (
	"strings"
	"time"
)

// longestMoment is how many characters a date may have: the longest real form, a Wednesday of RFC 850, has 33.
const longestMoment = 40

// moment is a point in time as a server wrote it, and how coarsely it did so.
type moment struct {
	sec, nsec int64 // Unix time
	grain     time.Duration
}

// parseMoment reads an HTTP-date (RFC 9110, section 5.6.7) or an ISO 8601 date and time (RFC 3339 and its looser kin).
func parseMoment(s string) (moment, bool) {
	if s == "" || len(s) > longestMoment {
		return moment{}, false
	}
	if s[0]-'0' <= 9 {
		return parseISO(s)
	}
	return parseHTTPDate(s)
}

// parseHTTPDate reads the three forms of RFC 9110, and what servers really send beside them: zone UTC, a numeric zone, a day
// of one digit. Like http.ParseTime it does not notice a weekday that contradicts the date.
func parseHTTPDate(s string) (moment, bool) {
	if len(s) == len("Mon, 02 Jan 2006 15:04:05 GMT") && s[3] == ',' {
		if m, ok := parseFixdate(s); ok {
			return m, true
		}
	}
	for _, layout := range [...]string{
		"Mon, 2 Jan 2006 15:04:05 GMT",
		"Mon, 2 Jan 2006 15:04:05 UTC",
		"Mon, 2 Jan 2006 15:04:05 -0700",
		"Monday, 02-Jan-06 15:04:05 GMT",
		"Monday, 02-Jan-06 15:04:05 UTC",
		time.ANSIC,
	} {
		if t, err := time.Parse(layout, s); err == nil {
			return moment{t.Unix(), int64(t.Nanosecond()), time.Second}, true
		}
	}
	return moment{}, false
}

// parseFixdate reads the preferred form of an HTTP-date, the one that almost every server sends with every answer: by hand,
// because time.Parse takes several times as long.
func parseFixdate(s string) (moment, bool) {
	if s[4] != ' ' || s[7] != ' ' || s[11] != ' ' || s[16] != ' ' || s[19] != ':' || s[22] != ':' {
		return moment{}, false
	}
	if !isWeekday(s[:3]) || s[25:] != " GMT" && s[25:] != " UTC" {
		return moment{}, false
	}
	return civil{
		year: digits(s[12:16]), month: monthOf(s[8:11]), day: digits(s[5:7]),
		hour: digits(s[17:19]), minute: digits(s[20:22]), second: digits(s[23:25]),
	}.moment()
}

func isWeekday(s string) bool {
	switch s {
	case "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun":
		return true
	}
	return false
}

// monthOf is the number of a month's three letters, -1 for none.
func monthOf(s string) int {
	i := strings.Index("JanFebMarAprMayJunJulAugSepOctNovDec", s)
	if i < 0 || i%3 != 0 {
		return -1
	}
	return i/3 + 1
}

// parseISO reads 2026-03-01T12:00:42.123Z: T or a blank before the time of day, the seconds optional (Atlassian documents
// yyyy-MM-ddTHH:mmZ), up to nine places of fraction, and a zone or none, which is read as UTC.
func parseISO(s string) (moment, bool) {
	if len(s) < len("2006-01-02T15:04") || s[4] != '-' || s[7] != '-' || s[13] != ':' {
		return moment{}, false
	}
	second, fraction, zone := isoSeconds(s[16:])
	offset, ok := isoZone(zone)
	if !ok || s[10] != 'T' && s[10] != 't' && s[10] != ' ' {
		return moment{}, false
	}
	m, ok := civil{
		year: digits(s[:4]), month: digits(s[5:7]), day: digits(s[8:10]),
		hour: digits(s[11:13]), minute: digits(s[14:16]), second: second,
	}.moment()
	m.sec -= offset
	m.nsec = fraction.nano
	m.grain = fraction.grain(time.Second)
	if len(zone) == len(s)-16 { // no seconds told
		m.grain = time.Minute
	}
	return m, ok
}

// isoSeconds reads ":05.123" from the start of s; without a colon there are no seconds. A second of -1 is a fault.
func isoSeconds(s string) (second int, fraction decimal, rest string) {
	if s == "" || s[0] != ':' {
		return 0, decimal{}, s
	}
	if len(s) < 3 {
		return -1, decimal{}, ""
	}
	second, rest = digits(s[1:3]), s[3:]
	if rest == "" || rest[0] != '.' {
		return second, decimal{}, rest
	}
	n := digitRun(rest)
	fraction, ok := parseDecimal(rest[:n])
	if !ok || fraction.places > 9 {
		return -1, decimal{}, ""
	}
	return second, fraction, rest[n:]
}

// isoZone reads a zone as seconds east of Greenwich.
func isoZone(s string) (offset int64, ok bool) {
	s = strings.TrimPrefix(s, " ") // Ruby prints "2026-03-01 12:00:42 UTC" and "... +0000"
	switch s {
	case "", "Z", "z", "UTC", "GMT":
		return 0, true
	}
	if len(s) == len("+01:00") && s[3] == ':' {
		s = s[:3] + s[4:]
	}
	if len(s) != len("+0100") || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	hours, minutes := digits(s[1:3]), digits(s[3:5])
	if hours < 0 || hours > 23 || minutes < 0 || minutes > 59 {
		return 0, false
	}
	offset = int64(hours*3600 + minutes*60)
	if s[0] == '-' {
		offset = -offset
	}
	return offset, true
}

// civil is a date and a time of day in UTC, not checked yet; -1 marks what was no number.
type civil struct{ year, month, day, hour, minute, second int }

// moment checks the ranges, leap years included. A leap second is the second after.
func (c civil) moment() (moment, bool) {
	if c.year < 0 || c.month < 1 || c.month > 12 || c.day < 1 || c.day > 31 {
		return moment{}, false
	}
	if c.hour < 0 || c.hour > 23 || c.minute < 0 || c.minute > 59 || c.second < 0 || c.second > 60 {
		return moment{}, false
	}
	midnight := time.Date(c.year, time.Month(c.month), c.day, 0, 0, 0, 0, time.UTC)
	sec := midnight.Unix() + int64(c.hour*3600+c.minute*60+c.second)
	return moment{sec: sec, grain: time.Second}, midnight.Day() == c.day
}

// digits is the value of a fixed run of digits, -1 if anything else is among them.
func digits(s string) int {
	n := 0
	for i := range len(s) {
		c := s[i] - '0'
		if c > 9 {
			return -1
		}
		n = n*10 + int(c)
	}
	return n
}
