package job

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// minSecret keeps a short word that was given for a key from being cut out of every text.
	minSecret = 8
	// hidden stands where a key was.
	hidden = "[key]"
	// replacement stands where bytes were no UTF-8, as everywhere.
	replacement = "\uFFFD"
)

// masked is how services show a key that they refuse: its head and its tail.
var masked = regexp.MustCompile(`([A-Za-z0-9_-]{2,})(?:\*+|\.{3}|…)([A-Za-z0-9_-]{2,})`)

// Cleaner makes what a server says fit to be kept and shown: without the key, and without bytes that would spoil a file or a terminal. Every text from
// outside goes through it whole, before anything is cut from it. A nil Cleaner knows no key.
type Cleaner struct {
	key     string
	spelled *regexp.Regexp // the key in every spelling that JSON and URLs have for it
}

// NewCleaner looks for key; a short one is no key.
func NewCleaner(key string) *Cleaner {
	if len(key) < minSecret {
		return &Cleaner{}
	}
	var b strings.Builder
	for i := range len(key) {
		fmt.Fprintf(&b, `(?:\\*%s|\\+u00(?i:%02x)|(?i:%%%02x))`, regexp.QuoteMeta(key[i:i+1]), key[i], key[i])
	}
	return &Cleaner{key: key, spelled: regexp.MustCompile(b.String())}
}

// Body cleans an answer, of which the JSON stays JSON. Only refusals are searched for masked keys, since a completion may show whatever it likes.
func (c *Cleaner) Body(body []byte, status int) []byte {
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(body) {
		body = bytes.ToValidUTF8(body, []byte(replacement))
	}
	if c.mayHold(body) {
		body = c.spelled.ReplaceAll(body, []byte(hidden))
	}
	if status >= 400 && c.hasKey() {
		body = masked.ReplaceAllFunc(body, func(shown []byte) []byte { return []byte(c.unmask(string(shown))) })
	}
	return body
}

// Text cleans what a person reads: what cannot be printed, such as the commands of a terminal, becomes a blank.
func (c *Cleaner) Text(text string) string {
	text = strings.Map(printable, strings.ToValidUTF8(text, replacement))
	if c.mayHold([]byte(text)) {
		text = c.spelled.ReplaceAllString(text, hidden)
	}
	if c.hasKey() && strings.ContainsAny(text, "*.…") {
		text = masked.ReplaceAllStringFunc(text, c.unmask)
	}
	return text
}

func printable(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return ' '
}

func (c *Cleaner) hasKey() bool { return c != nil && c.spelled != nil }

// mayHold spares most answers the slow search: a key stands there as it is, or with escapes.
func (c *Cleaner) mayHold(b []byte) bool {
	if !c.hasKey() {
		return false
	}
	for _, mark := range []string{c.key, `\u00`, `\/`, `%`} {
		if bytes.Contains(b, []byte(mark)) {
			return true
		}
	}
	return strings.ContainsAny(c.key, `"\`)
}

func (c *Cleaner) unmask(shown string) string {
	ends := masked.FindStringSubmatch(shown)
	if strings.HasPrefix(c.key, ends[1]) && strings.HasSuffix(c.key, ends[2]) {
		return hidden
	}
	return shown
}

// short is the beginning of a text, whole letters, at most so many bytes.
func short(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
