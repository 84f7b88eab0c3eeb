package headers

import "time"

// parseDuration reads a length with its units, as Go prints it and AI services send it: 6m0s, 2m59.56s, 17ms, 850µs, 1d2h.
// Unlike time.ParseDuration it refuses signs, a last number without a unit and lengths above 366 days, and knows days. The
// grain is one step of the finest part told.
func parseDuration(s string) (d, grain time.Duration, ok bool) {
	if s == "" || len(s) > longestNumber {
		return 0, 0, false
	}
	grain = longest
	for s != "" {
		i := digitRun(s)
		j := i + unitRun(s[i:])
		unit := unitOf(s[i:j])
		n, ok := parseDecimal(s[:i])
		if !ok || unit == 0 {
			return 0, 0, false
		}
		part, ok := n.times(unit)
		d += part
		if !ok || d > longest {
			return 0, 0, false
		}
		grain = min(grain, n.grain(unit))
		s = s[j:]
	}
	return d, grain, true
}

// digitRun is how many of the first bytes of s belong to a number.
func digitRun(s string) int {
	i := 0
	for i < len(s) && (s[i] == '.' || s[i]-'0' <= 9) {
		i++
	}
	return i
}

// unitRun is how many of the first bytes of s do not belong to a number.
func unitRun(s string) int {
	i := 0
	for i < len(s) && s[i] != '.' && s[i]-'0' > 9 {
		i++
	}
	return i
}

// unitOf is the length of a unit, 0 for an unknown one. Go prints U+00B5 for micro; U+03BC looks the same.
func unitOf(s string) time.Duration {
	switch s {
	case "s":
		return time.Second
	case "ms":
		return time.Millisecond
	case "m":
		return time.Minute
	case "h":
		return time.Hour
	case "d":
		return 24 * time.Hour
	case "us", "\u00b5s", "\u03bcs":
		return time.Microsecond
	case "ns":
		return time.Nanosecond
	}
	return 0
}
