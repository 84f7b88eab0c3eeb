package job

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestNoTextShowsTheKey(t *testing.T) {
	c := NewCleaner("sk-proj-abcdefghijklmnop")
	for text, want := range map[string]string{
		"Incorrect API key provided: sk-proj-abcdefghijklmnop.": "Incorrect API key provided: [key].",
		"provided: sk-pr********mnop":                           "provided: [key]",
		"provided: sk-...mnop, twice sk-proj*op":                "provided: [key], twice [key]",
		"ranges 10...20 and a**b stay":                          "ranges 10...20 and a**b stay",
		"nothing here":                                          "nothing here",
	} {
		assert.Equal(t, want, c.Text(text))
		assert.Equal(t, want, string(c.Body([]byte(text), 401)))
	}
	assert.Equal(t, "say sk-...mnop", string(c.Body([]byte("say sk-...mnop"), 200)), "an answer may show what it likes")
	assert.Equal(t, "say [key]", string(c.Body([]byte("say sk-proj-abcdefghijklmnop"), 200)))
	assert.Equal(t, "x y z", NewCleaner("y").Text("x y z"), "a word is no key")
	assert.Equal(t, "x", (*Cleaner)(nil).Text("x"))
	assert.Equal(t, "x", string((*Cleaner)(nil).Body([]byte("x"), 400)))
}

// A key is found however its letters are escaped, once or twice.
func TestNoSpellingShowsTheKey(t *testing.T) {
	const key = `sk-test/abc+"123\xyz`
	c := NewCleaner(key)
	rapid.Check(t, func(rt *rapid.T) {
		var b strings.Builder
		for _, letter := range key {
			b.WriteString(rapid.SampledFrom(spellings(letter)).Draw(rt, "spelling"))
		}
		text := `{"m":"a` + b.String() + `z"}`
		assert.Equal(rt, `{"m":"a[key]z"}`, string(c.Body([]byte(text), 200)))
		assert.Equal(rt, `{"m":"a[key]z"}`, c.Text(text))
	})
}

func spellings(letter rune) []string {
	code := fmt.Sprintf("%04x", letter)
	all := []string{`\u` + code, `\u` + strings.ToUpper(code), `\\u` + code, `%` + code[2:]}
	switch letter {
	case '/', '"', '\\':
		return append(all, `\`+string(letter), `\\\`+string(letter))
	}
	return append(all, string(letter))
}

// What is cleaned is UTF-8, stays the JSON that it was, and a text is one line without commands for a terminal.
func TestWhatIsCleanedSpoilsNothing(t *testing.T) {
	c := NewCleaner("sk-proj-abcdefghijklmnop")
	body := c.Body([]byte("\xef\xbb\xbf{\"a\":\"caf\xe9 \\u001b[31m\"}"), 200)
	require.True(t, json.Valid(body))
	assert.True(t, utf8.Valid(body))
	assert.Equal(t, "{\"a\":\"caf\uFFFD \\u001b[31m\"}", string(body))
	assert.Equal(t, "a [31mb c d e\uFFFD", c.Text("a\x1b[31mb\nc\u202ed\u0085e\xff"))
}

func TestShortKeepsLettersWhole(t *testing.T) {
	assert.Equal(t, "abc", short("abc", 3))
	assert.Equal(t, "a…", short("aéb", 2))
}
