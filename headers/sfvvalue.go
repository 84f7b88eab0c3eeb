package headers

import (
	"strings"
	"unicode/utf8"
)

// sfvValue is a bare value: its kind by first character, and its text without the marks around it.
type sfvValue struct {
	kind sfvKind
	text string // of a string: between the quotes, escapes still in it
}

type sfvKind uint8

const (
	sfvNone    sfvKind = iota
	sfvInteger         // up to 15 digits, perhaps with a minus
	sfvDecimal         // up to 12 digits, a dot, up to 3 digits
	sfvString
	sfvToken
	sfvBytes // base64, not decoded
	sfvBool
	sfvDate
	sfvDisplay // a string of Unicode, percent-encoded
	sfvInner   // an inner list: checked and skipped
)

// sfvKeyLen is the length of the key that s starts with.
func sfvKeyLen(s string) int {
	i := 0
	for i < len(s) && (isLower(s[i]) || s[i] == '*' || i > 0 && (isDigit(s[i]) || strings.IndexByte("_-.", s[i]) >= 0)) {
		i++
	}
	return i
}

// sfvBare reads the bare value that s starts with, and how many bytes it takes: none for a fault.
func sfvBare(s string) (sfvValue, int) {
	if s == "" {
		return sfvValue{}, 0
	}
	switch c := s[0]; {
	case isDigit(c) || c == '-':
		return sfvNumber(s)
	case c == '"':
		return sfvQuoted(s)
	case isAlpha(c) || c == '*':
		return sfvTokenAt(s)
	case c == ':':
		return sfvBinary(s)
	case c == '?' && len(s) > 1 && (s[1] == '0' || s[1] == '1'):
		return sfvValue{sfvBool, s[1:2]}, 2
	case c == '@':
		if v, n := sfvNumber(s[1:]); v.kind == sfvInteger {
			return sfvValue{sfvDate, v.text}, n + 1
		}
	case c == '%':
		return sfvUnicode(s)
	}
	return sfvValue{}, 0
}

// sfvNumber reads an integer of up to 15 digits or a decimal of up to 12.3 (RFC 9651, section 4.2.4).
func sfvNumber(s string) (sfvValue, int) {
	i := 0
	if i < len(s) && s[i] == '-' {
		i++
	}
	start := i
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	whole := i - start
	if i == len(s) || s[i] != '.' {
		if whole < 1 || whole > 15 {
			return sfvValue{}, 0
		}
		return sfvValue{sfvInteger, s[:i]}, i
	}
	i++
	point := i
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	if whole < 1 || whole > 12 || i-point < 1 || i-point > 3 {
		return sfvValue{}, 0
	}
	return sfvValue{sfvDecimal, s[:i]}, i
}

// sfvQuoted reads a string: printable ASCII, with \" and \\ the only escapes.
func sfvQuoted(s string) (sfvValue, int) {
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return sfvValue{sfvString, s[1:i]}, i + 1
		case c == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
		case c == '\\' || c < ' ' || c > '~':
			return sfvValue{}, 0
		}
	}
	return sfvValue{}, 0
}

func sfvTokenAt(s string) (sfvValue, int) {
	i := 1
	for i < len(s) && (isAlpha(s[i]) || isDigit(s[i]) || strings.IndexByte("!#$%&'*+-.^_`|~:/", s[i]) >= 0) {
		i++
	}
	return sfvValue{sfvToken, s[:i]}, i
}

// sfvBinary reads :base64: without decoding it.
func sfvBinary(s string) (sfvValue, int) {
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == ':':
			return sfvValue{sfvBytes, s[1:i]}, i + 1
		case !isAlpha(c) && !isDigit(c) && c != '+' && c != '/' && c != '=':
			return sfvValue{}, 0
		}
	}
	return sfvValue{}, 0
}

// sfvUnicode reads a display string: %"...", where %xx in lower-case hex spells UTF-8.
func sfvUnicode(s string) (sfvValue, int) {
	if !strings.HasPrefix(s, `%"`) {
		return sfvValue{}, 0
	}
	end := strings.IndexByte(s[2:], '"') + 2
	if end < 2 {
		return sfvValue{}, 0
	}
	decoded := make([]byte, 0, end)
	for i := 2; i < end; i++ {
		c := s[i]
		if c < ' ' || c > '~' {
			return sfvValue{}, 0
		}
		if c == '%' {
			if i+2 >= end || hexOf(s[i+1]) < 0 || hexOf(s[i+2]) < 0 {
				return sfvValue{}, 0
			}
			c = byte(hexOf(s[i+1])<<4 | hexOf(s[i+2]))
			i += 2
		}
		decoded = append(decoded, c)
	}
	if !utf8.Valid(decoded) {
		return sfvValue{}, 0
	}
	return sfvValue{sfvDisplay, s[2:end]}, end + 1
}

func hexOf(c byte) int { return strings.IndexByte("0123456789abcdef", c) }

func isDigit(c byte) bool { return c-'0' <= 9 }
func isLower(c byte) bool { return c-'a' < 26 }
func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
