package batchfile

import (
	"encoding/json"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// field is one member of a JSON object, as spans of the object's text.
type field struct {
	key   string
	start int // of the key, its quote included
	value []byte
	end   int // after the value
}

// eachField calls f for every member of obj, in order, doubled keys included. obj must be valid JSON and an object.
func eachField(obj []byte, f func(field)) {
	i := skipSpace(obj, 1)
	for i < len(obj) && obj[i] == '"' {
		start, keyEnd := i, skipString(obj, i)
		i = skipSpace(obj, keyEnd)
		i = skipSpace(obj, i+1) // past the colon
		end := skipValue(obj, i)
		f(field{key: unquote(obj[start:keyEnd]), start: start, value: obj[i:end], end: end})
		i = skipSpace(obj, end)
		if i < len(obj) && obj[i] == ',' {
			i = skipSpace(obj, i+1)
		}
	}
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// skipString returns the place after the string that starts at i.
func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// skipValue returns the place after the value that starts at i. It keeps a depth instead of calling itself, so deep nesting costs no stack.
func skipValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		default:
			if depth == 0 {
				return skipWord(b, i)
			}
		}
		i++
		if depth == 0 {
			return i
		}
	}
	return len(b)
}

// skipWord returns the place after the number, true, false or null that starts at i.
func skipWord(b []byte, i int) int {
	for i < len(b) {
		switch b[i] {
		case ',', '}', ']', ' ', '\t', '\r', '\n':
			return i
		}
		i++
	}
	return i
}

// unquote decodes a JSON string; text without an escape is taken as it stands.
func unquote(quoted []byte) string {
	inner := quoted[1 : len(quoted)-1]
	for _, c := range inner {
		if c == '\\' {
			var s string
			_ = json.Unmarshal(quoted, &s) // valid by contract
			return s
		}
	}
	return string(inner)
}

// halfPair tells whether a JSON string has a surrogate escape without its other half, which decoding makes U+FFFD of, as of every other one.
func halfPair(quoted []byte) bool {
	for i := 0; i+1 < len(quoted); i++ {
		if quoted[i] != '\\' {
			continue
		}
		if i++; quoted[i] != 'u' {
			continue
		}
		r := escaped(quoted[i+1:])
		if !utf16.IsSurrogate(r) {
			continue
		}
		if i += 4; i+2 >= len(quoted) || quoted[i+1] != '\\' || quoted[i+2] != 'u' || utf16.DecodeRune(r, escaped(quoted[i+3:])) == utf8.RuneError {
			return true
		}
		i += 6
	}
	return false
}

// escaped is the number of four hexadecimal digits.
func escaped(b []byte) rune {
	n, _ := strconv.ParseUint(string(b[:min(4, len(b))]), 16, 16) // valid by contract
	return rune(n)
}

func isString(v []byte) bool { return len(v) > 0 && v[0] == '"' }
func isObject(v []byte) bool { return len(v) > 0 && v[0] == '{' }
func isArray(v []byte) bool  { return len(v) > 0 && v[0] == '[' }
func isNull(v []byte) bool   { return string(v) == "null" }

// without returns obj with every member of that name taken out and all other bytes as they were, and the value of the last one taken.
// An obj without such a member is returned as it is.
func without(obj []byte, name string) (rest, taken []byte) {
	rest = obj
	for {
		var hit *field
		eachField(rest, func(f field) {
			if f.key == name && hit == nil {
				hit = &f
			}
		})
		if hit == nil {
			return rest, taken
		}
		taken = hit.value
		rest = cut(rest, hit.start, hit.end)
	}
}

// cut removes the member at obj[start:end] and one comma beside it, into fresh memory.
func cut(obj []byte, start, end int) []byte {
	if after := skipSpace(obj, end); obj[after] == ',' {
		end = skipSpace(obj, after+1)
	} else if before := lastComma(obj, start); before > 0 {
		start = before
	}
	return append(append(make([]byte, 0, len(obj)), obj[:start]...), obj[end:]...)
}

// lastComma returns the place of the comma before i with only white space between, or 0.
func lastComma(obj []byte, i int) int {
	for i--; i > 0; i-- {
		switch obj[i] {
		case ' ', '\t', '\r', '\n':
		case ',':
			return i
		default:
			return 0
		}
	}
	return 0
}
