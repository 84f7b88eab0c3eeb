package budget

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// word is one word of a policy's text. A quoted one never has a meaning of its own.
type word struct {
	text   string
	quoted bool
}

// bare is the word if it may be a keyword.
func (w word) bare() string {
	if w.quoted {
		return ""
	}
	return w.text
}

func (w word) isPer() bool { return w.bare() == "/" || strings.EqualFold(w.bare(), "per") }

// unit is the unit that the word names: the usual ones also in other spellings, since a unit that nobody counts would be a limit of nothing.
func (w word) unit() string {
	switch strings.ToLower(w.bare()) {
	case "req", "reqs", "request", Requests:
		return Requests
	case "token", Tokens:
		return Tokens
	case "input_token", InputTokens:
		return InputTokens
	case "output_token", OutputTokens:
		return OutputTokens
	}
	return w.text
}

func (w word) algorithm() (Algorithm, error) {
	a, known := algorithmNamed(w.bare())
	if !known {
		return 0, fmt.Errorf("%q is neither burst, anchor, name nor an algorithm (%s)", w.text, strings.Join(algorithmNames[:], ", "))
	}
	return a, nil
}

// reader hands out the words of a text one by one; after the last, empty ones.
type reader struct{ words []word }

func (r *reader) done() bool { return len(r.words) == 0 }

func (r *reader) peek() word {
	if r.done() {
		return word{}
	}
	return r.words[0]
}

func (r *reader) next() word {
	w := r.peek()
	if !r.done() {
		r.words = r.words[1:]
	}
	return w
}

// read cuts a text into words. A slash is one by itself.
func read(s string) (*reader, error) {
	r := &reader{}
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		switch s[0] {
		case '/':
			r.words = append(r.words, word{text: "/"})
			s = s[1:]
		case '"':
			literal, err := strconv.QuotedPrefix(s)
			if err != nil {
				return nil, fmt.Errorf("%s: close the quote, and write it as Go does", s)
			}
			text, _ := strconv.Unquote(literal)
			r.words = append(r.words, word{text, true})
			s = s[len(literal):]
		default:
			end := strings.IndexAny(s, " \t\r\n/\"")
			if end < 0 {
				end = len(s)
			}
			r.words = append(r.words, word{text: s[:end]})
			s = s[end:]
		}
	}
	return r, nil
}

// parseAmount reads a number as people write it: 500, 0.5, 1e6, 200_000, 200,000, 200k, 2M.
func parseAmount(s string) (float64, error) {
	plain, factor := s, 1.0
	switch {
	case strings.HasSuffix(s, "k"), strings.HasSuffix(s, "K"):
		plain, factor = s[:len(s)-1], 1e3
	case strings.HasSuffix(s, "M"):
		plain, factor = s[:len(s)-1], 1e6
	}
	n, err := strconv.ParseFloat(ungrouped(plain), 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no amount: %w", s, errForm)
	}
	return n * factor, nil
}

// ungrouped takes out commas that stand before groups of three digits. ParseFloat reads underscores by itself.
func ungrouped(s string) string {
	whole, fraction, point := strings.Cut(s, ".")
	groups := strings.Split(whole, ",")
	for _, g := range groups[1:] {
		if len(g) != 3 {
			return s
		}
	}
	whole = strings.Join(groups, "")
	if point {
		return whole + "." + fraction
	}
	return whole
}

// parseMoment reads an anchor.
func parseMoment(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is no moment: write it like 2026-01-01T05:00:00Z", s)
	}
	return t, nil
}

// parseWindow reads a window: "minute", "10s", "7d", "10 seconds".
func parseWindow(r *reader) (time.Duration, error) {
	text := r.next().bare()
	if strings.Trim(text, digits) == "" {
		text += r.next().bare()
	}
	unit := strings.TrimLeft(text, digits)
	length, known := windowNamed(strings.ToLower(unit))
	if known {
		return times(strings.TrimSuffix(text, unit), length)
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is no window: use second, minute, hour, day, week, or a length such as 10s, 5m, 7d", text)
	}
	return d, nil
}

const digits = "0123456789"

// times is count, which may be left out, times a length.
func times(count string, length time.Duration) (time.Duration, error) {
	if count == "" {
		return length, nil
	}
	n, err := strconv.Atoi(count)
	if err != nil || time.Duration(n) > maxWindow/length {
		return 0, fmt.Errorf("a window of %s times %v is too long: use at most %d days", count, formatWindow(length), maxWindow/day)
	}
	return time.Duration(n) * length, nil
}

// windowNamed is the length that a word stands for. A month has no fixed one.
func windowNamed(s string) (time.Duration, bool) {
	switch strings.TrimSuffix(s, "s") {
	case "", "sec", "second":
		return time.Second, s != ""
	case "m", "min", "minute":
		return time.Minute, s != "ms"
	case "h", "hr", "hour":
		return time.Hour, true
	case "d", "day":
		return day, true
	case "w", "wk", "week":
		return 7 * day, true
	}
	return 0, false
}
