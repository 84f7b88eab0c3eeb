package llm

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Inspect reads a request body in one pass. Broken JSON counts as far as it goes.
func Inspect(body []byte) Prompt {
	s := scanner{text: body}
	for s.at < len(s.text) {
		s.step()
	}
	s.prompt.Images = max(s.named, s.blobs)
	return s.prompt
}

// scanner walks over JSON text. It builds nothing: of strings it only counts what they weigh.
type scanner struct {
	text   []byte
	at     int
	depth  int
	key    []byte // the name that the next value has
	prompt Prompt

	named int // parts that say they are an image or the like
	blobs int // strings that hold inline data
}

func (s *scanner) step() {
	switch c := s.text[s.at]; {
	case c == '"':
		s.string()
	case c == '{' || c == '[':
		s.depth++
		s.at++
	case c == '}' || c == ']':
		s.depth--
		s.at++
	case '0' <= c && c <= '9':
		s.number()
	default:
		s.at++
	}
}

// string takes a string that starts here: a name if a colon follows, else a value.
func (s *scanner) string() {
	start := s.at + 1
	end := endOfString(s.text, start)
	inner := s.text[start:min(end, len(s.text))]
	s.at = end + 1
	if s.colonFollows() {
		s.key = inner
		return
	}
	s.value(inner)
}

func (s *scanner) colonFollows() bool {
	for i := s.at; i < len(s.text); i++ {
		switch s.text[i] {
		case ' ', '\t', '\r', '\n':
		case ':':
			return true
		default:
			return false
		}
	}
	return false
}

func (s *scanner) value(inner []byte) {
	switch {
	case s.depth == 1 && string(s.key) == "model":
		s.prompt.Model = decode(inner)
	case string(s.key) == "type" && isMedia(inner):
		s.named++
	case isBlob(inner):
		s.blobs++
	default:
		s.prompt.Chars += weigh(inner)
	}
}

// number takes a number that starts here.
func (s *scanner) number() {
	start := s.at
	for s.at < len(s.text) && isNumber(s.text[s.at]) {
		s.at++
	}
	slot := s.slot()
	if slot == nil {
		return
	}
	if n, err := strconv.Atoi(string(s.text[start:s.at])); err == nil {
		*slot = max(*slot, n)
	}
}

func isNumber(c byte) bool {
	return '0' <= c && c <= '9' || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-'
}

// slot is where the number of this name belongs. Limits on the answer stand at the top, or one level below in Gemini's generationConfig.
func (s *scanner) slot() *int {
	level, slot := 0, (*int)(nil)
	switch string(s.key) {
	case "max_completion_tokens", "max_tokens", "max_output_tokens":
		level, slot = 1, &s.prompt.MaxOutput
	case "n":
		level, slot = 1, &s.prompt.Answers
	case "maxOutputTokens":
		level, slot = 2, &s.prompt.MaxOutput
	case "candidateCount":
		level, slot = 2, &s.prompt.Answers
	}
	if s.depth != level {
		return nil
	}
	return slot
}

// endOfString is the place of the quote that ends a string whose text starts at i.
func endOfString(b []byte, i int) int {
	for ; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(b)
}

// isMedia tells the kinds of message parts that are not text, in the dialects of OpenAI and Anthropic.
func isMedia(kind []byte) bool {
	switch string(kind) {
	case "image_url", "input_image", "image", "input_audio", "file", "input_file", "document":
		return true
	}
	return false
}

// shortestBlob keeps long words and ids from being taken for data. A picture of a single pixel is about this long.
const shortestBlob = 64

// isBlob tells inline data from text: a data URL, or base64 and nothing else. The first kilobyte decides.
func isBlob(s []byte) bool {
	if bytes.HasPrefix(s, []byte("data:")) {
		return true
	}
	if len(s) < shortestBlob {
		return false
	}
	for _, c := range s[:min(len(s), 1024)] {
		if !isBase64(c) {
			return false
		}
	}
	return hasVariety(s[:shortestBlob])
}

func isBase64(c byte) bool {
	return 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '+' || c == '/' || c == '=' || c == '-' || c == '_' || c == '\\'
}

// hasVariety is true of base64, which uses small letters, capitals and digits alike, and false of words without blanks.
func hasVariety(s []byte) bool {
	var small, capital, digit bool
	for _, c := range s {
		small = small || 'a' <= c && c <= 'z'
		capital = capital || 'A' <= c && c <= 'Z'
		digit = digit || '0' <= c && c <= '9'
	}
	return small && capital && digit
}

// weigh is the length of a string's text in bytes of UTF-8, near enough: an escape such as \n is one byte, \u00e9 counts as three.
func weigh(s []byte) int {
	n := len(s)
	for i := 0; i < len(s)-1; i++ {
		if s[i] != '\\' {
			continue
		}
		n--
		i++
		if s[i] == 'u' {
			n -= 2
		}
	}
	return n
}

// decode is the text of a string without its quotes.
func decode(inner []byte) string {
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	var s string
	if json.Unmarshal(append(append([]byte{'"'}, inner...), '"'), &s) != nil {
		return string(inner)
	}
	return s
}
