package headers

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

const (
	// longest is the furthest that a wait, a reset or a window may lie ahead: 366 days. Yearly quotas are the longest that exist,
	// and a value above is a moment or a fault, not a length.
	longest = 366 * 24 * time.Hour
	// longestSeconds is longest in whole seconds.
	longestSeconds = int64(longest / time.Second)
	// longestNumber is how many characters a number may have: 2^64 has 20, so 40 leaves room for any real fraction.
	longestNumber = 40
	// exactDigits is how many decimal digits always fit a float64 and a uint64 exactly.
	exactDigits = 15
)

// number reads a count: ASCII digits with at most one dot. Signs, exponents, hex, underscores, words and blanks are refused.
func number(s string) (float64, bool) {
	if len(s) == 0 || len(s) > exactDigits {
		return longNumber(s)
	}
	var n uint64
	for i := range len(s) {
		c := s[i] - '0'
		if c > 9 {
			return longNumber(s)
		}
		n = n*10 + uint64(c)
	}
	return float64(n), true
}

// longNumber reads fractions and numbers beyond the exact range of a float64.
func longNumber(s string) (float64, bool) {
	if !plainDigits(s) {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}

// plainDigits reports whether s is a number as number defines it. strconv accepts far more, so it must not be asked.
func plainDigits(s string) bool {
	if len(s) > longestNumber {
		return false
	}
	dots, digits := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == '.':
			dots++
		case c-'0' > 9:
			return false
		default:
			digits++
		}
	}
	return dots <= 1 && digits > 0
}

// decimal is a non-negative number, kept exact: whole + nano/1e9, written with this many places after the dot.
type decimal struct {
	whole  uint64
	nano   int64 // 0..1e9: what lies below a billionth is rounded up, so that a wait is never shortened
	places int
}

// parseDecimal reads what number reads.
func parseDecimal(s string) (decimal, bool) {
	if len(s) == 0 || len(s) > exactDigits {
		return longDecimal(s)
	}
	var n uint64
	for i := range len(s) {
		c := s[i]
		switch {
		case c-'0' <= 9:
			n = n*10 + uint64(c-'0')
		case c == '.':
			return longDecimal(s)
		default:
			return decimal{}, false
		}
	}
	return decimal{whole: n}, true
}

// longDecimal reads fractions and long numbers. A whole part that does not fit is saturated: it is above every bound anyway.
func longDecimal(s string) (decimal, bool) {
	if !plainDigits(s) {
		return decimal{}, false
	}
	whole, fraction, _ := strings.Cut(s, ".")
	d := decimal{places: len(fraction)}
	for i := range len(whole) {
		if d.whole > math.MaxUint64/10-1 {
			d.whole = math.MaxUint64
			break
		}
		d.whole = d.whole*10 + uint64(whole[i]-'0')
	}
	for i, scale := 0, int64(time.Second/10); i < len(fraction); i, scale = i+1, scale/10 {
		if scale == 0 {
			d.nano++
			break
		}
		d.nano += int64(fraction[i]-'0') * scale
	}
	return d, true
}

// times is d units as a duration, rounded up to the nanosecond; false when that is longer than 366 days.
func (d decimal) times(unit time.Duration) (time.Duration, bool) {
	over, v := bits.Mul64(d.whole, uint64(unit))
	if d.nano != 0 {
		v += (uint64(d.nano)*uint64(unit) + uint64(time.Second) - 1) / uint64(time.Second)
	}
	return time.Duration(v), over == 0 && v <= uint64(longest)
}

// grain is the coarseness of d units: one step of its last place, or zero from a millisecond on.
func (d decimal) grain(unit time.Duration) time.Duration {
	for i := 0; i < d.places && unit > time.Millisecond; i++ {
		unit /= 10
	}
	if unit <= time.Millisecond {
		return 0
	}
	return unit
}

// trim cuts the blanks that HTTP allows around a value. net/http has done it already for answers that came over a wire.
func trim(s string) string {
	for len(s) > 0 && isBlank(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isBlank(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }
