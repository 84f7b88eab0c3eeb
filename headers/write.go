package headers

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

// Write sets the headers by which a server of dialect d tells these quotas: what servers in tests need. Parse reads them back as
// they were, as far as the dialect can say them; what it cannot say is left out, never changed into something else. Most
// dialects have unqualified names for one quota only, which goes to the first that counts requests; some tell the others apart
// by a word in the name. Resets are rounded up to what the dialect writes (whole seconds, for most), and counts down to whole
// numbers where it has no others. Moments count from h's Date if it has one, else from time.Now; so set Date first.
func Write(h http.Header, q []Quota, d Dialect) {
	w := writer{h: h, clock: clockOf(h, dateOr(h, time.Now()))}
	switch d {
	case XRateLimit, XRateLimitEpoch, XRateLimitMilli, OpenAI, Anthropic:
		w.names(q, spellings[d])
	case RateLimitTrio:
		w.trio(q)
	case RateLimitDict:
		w.dict(q)
	case RateLimitList:
		w.list(q)
	case GitHub:
		w.gitHub(q)
	case Discord:
		w.discord(q)
	}
}

// writer writes into h, and counts moments from the clock.
type writer struct {
	h     http.Header
	clock clock
}

// dateOr is h's Date, however far it is from now.
func dateOr(h http.Header, now time.Time) time.Time {
	if m, ok := parseMoment(h.Get("Date")); ok {
		return time.Unix(m.sec, m.nsec)
	}
	return now
}

// set writes a header unless there is nothing to say.
func (w *writer) set(name, value string) {
	if name != "" && value != "" {
		w.h.Set(name, value)
	}
}

// resetForm is a way to write when something is given back.
type resetForm uint8

const (
	resetSeconds resetForm = iota
	resetEpoch
	resetEpochMilli
	resetEpochFraction // seconds with three places
	resetFraction      // a length with three places
	resetDuration      // 6m0s
	resetRFC3339
)

// reset is d in a form, "" if it is unknown or absurd.
func (w *writer) reset(d Maybe[time.Duration], f resetForm) string {
	if !d.Known || d.Value < 0 || d.Value > longest {
		return ""
	}
	at := time.Unix(w.clock.sec, w.clock.nsec).Add(d.Value).UTC()
	switch f {
	case resetEpoch:
		return strconv.FormatInt(roundUp(at, time.Second).Unix(), 10)
	case resetEpochMilli:
		return strconv.FormatInt(roundUp(at, time.Millisecond).UnixMilli(), 10)
	case resetEpochFraction:
		return strconv.FormatFloat(float64(roundUp(at, time.Millisecond).UnixMilli())/1000, 'f', 3, 64)
	case resetFraction:
		return strconv.FormatFloat(ceil(d.Value, time.Millisecond).Seconds(), 'f', 3, 64)
	case resetDuration:
		return ceil(d.Value, time.Millisecond).String()
	case resetRFC3339:
		return roundUp(at, time.Second).Format(time.RFC3339)
	}
	return strconv.FormatInt(int64(ceil(d.Value, time.Second)/time.Second), 10)
}

// ceil rounds a length up.
func ceil(d, unit time.Duration) time.Duration {
	if down := d.Truncate(unit); down < d {
		return down + unit
	}
	return d
}

// roundUp rounds a moment up.
func roundUp(t time.Time, unit time.Duration) time.Time {
	if down := t.Truncate(unit); down.Before(t) {
		return down.Add(unit)
	}
	return t
}

// count is a number as servers write it, "" if it is unknown or absurd.
func count(n Maybe[float64]) string {
	if !n.Known || !(n.Value >= 0) || math.IsInf(n.Value, 1) {
		return ""
	}
	s := strconv.FormatFloat(n.Value, 'f', -1, 64)
	if len(s) > longestNumber {
		return ""
	}
	return s
}

// whole is a number of at most 15 digits without a fraction, as structured fields have them; "" if it is unknown or absurd.
func whole(n Maybe[float64]) string {
	if !n.Known || !(n.Value >= 0) || n.Value >= 1e15 {
		return ""
	}
	return strconv.FormatInt(int64(n.Value), 10)
}

// span is a window in whole seconds, "" for one that has none.
func span(d Maybe[time.Duration]) string {
	if !d.Known || d.Value <= 0 || d.Value > longest || d.Value%time.Second != 0 {
		return ""
	}
	return strconv.FormatInt(int64(d.Value/time.Second), 10)
}

// firstRequests is the place of the quota that unqualified names are for, -1 if there is none.
func firstRequests(q []Quota) int {
	for i := range q {
		if q[i].Unit == requests || q[i].Unit == "" {
			return i
		}
	}
	return -1
}

// spelling is how a dialect makes names that say what they are about.
type spelling struct {
	prefix    string
	unitFirst bool   // unit-limit, not limit-unit
	plain     bool   // the first quota of requests has unqualified names
	named     string // the prefix of a quota with a name, which takes its place after it
	reset     resetForm
}

// spellings are the dialects that say in each name what it is about. They never change.
var spellings = map[Dialect]spelling{
	XRateLimit:      {prefix: "X-Ratelimit-", plain: true, reset: resetSeconds},
	XRateLimitEpoch: {prefix: "X-Ratelimit-", plain: true, reset: resetEpoch},
	XRateLimitMilli: {prefix: "X-Ratelimit-", plain: true, reset: resetEpochMilli},
	OpenAI:          {prefix: "X-Ratelimit-", reset: resetDuration},
	Anthropic:       {prefix: "Anthropic-Ratelimit-", named: "Anthropic-", unitFirst: true, reset: resetRFC3339},
}
