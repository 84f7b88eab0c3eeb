package batchfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// piece is something that may stand on a line, with what is to become of it in a batch file whose first line is good.
type piece struct {
	text   string
	reason Reason // "" for a request, "-" for a blank line
}

func pieces(t *rapid.T) []piece {
	id := func() string { return fmt.Sprintf("id-%d", rapid.IntRange(0, 5).Draw(t, "id")) }
	kinds := []func() piece{
		func() piece { return piece{good(id()), ""} },
		func() piece { return piece{good(rapid.StringN(1, 12, -1).Draw(t, "any id")), ""} },
		func() piece { return piece{rapid.SampledFrom([]string{"", " ", "\t \r", "\r"}).Draw(t, "blank"), "-"} },
		func() piece { return piece{good(id())[:20], InvalidJSON} },
		func() piece { return piece{good(id()) + "{}", TrailingData} },
		func() piece { return piece{"\xff" + good(id()), InvalidUTF8} },
		func() piece { return piece{"[" + good(id()) + "]", NotAnObject} },
		func() piece { return piece{`{"custom_id":7}`, CustomIDNotString} },
		func() piece { return piece{`{"custom_id":"x","body":null}`, BodyNotObject} },
		func() piece { return piece{goodBody, WrongFormat} },
	}
	var all []piece
	for range rapid.IntRange(0, 30).Draw(t, "lines") {
		all = append(all, kinds[rapid.IntRange(0, len(kinds)-1).Draw(t, "kind")]())
	}
	return all
}

// Whatever stands between whatever, every line gets its own verdict, duplicates name the first, and bodies are those of their lines.
func TestAnyMixtureOfLines(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		all := append([]piece{{good("very first"), ""}}, pieces(rt)...)
		var file bytes.Buffer
		for i, p := range all {
			file.WriteString(p.text)
			if i < len(all)-1 || rapid.Bool().Draw(rt, "final newline") {
				file.WriteString(rapid.SampledFrom([]string{"\n", "\r\n", " \n"}).Draw(rt, "end"))
			}
		}
		g := readAll(t, &file, Options{})
		first := map[string]int{}
		sent := 0
		for i, p := range all {
			no := i + 1
			if p.reason == "-" {
				assert.NotContains(rt, g.rejects, no)
				continue
			}
			if p.reason != "" {
				if assert.Contains(rt, g.rejects, no) {
					assert.Equal(rt, p.reason, g.rejects[no].Reason, p.text)
				}
				continue
			}
			var line struct {
				ID   string `json:"custom_id"`
				Body json.RawMessage
			}
			if !assert.NoError(rt, json.Unmarshal([]byte(p.text), &line)) {
				continue
			}
			if before, dup := first[line.ID]; dup {
				assert.Equal(rt, before, g.rejects[no].FirstLine)
				continue
			}
			first[line.ID] = no
			if assert.Less(rt, sent, len(g.requests)) {
				assert.Equal(rt, &Request{Line: no, ID: line.ID, Model: "m", Body: line.Body}, g.requests[sent])
			}
			sent++
		}
		assert.Len(rt, g.requests, sent)
	})
}

// Cutting and joining lines is the inverse of reading them, whatever the sizes and the reader.
func TestLinesAgainstSplit(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringMatching(`[a-z\n\r \x{2028}\x{85}]{0,200}`).Draw(rt, "text")
		most := rapid.IntRange(1, 60).Draw(rt, "cap")
		want := strings.SplitAfter(text, "\n")
		if want[len(want)-1] == "" {
			want = want[:len(want)-1]
		}
		got := allLines(t, NewLines(strings.NewReader(text), most))
		if !assert.Len(rt, got, len(want)) {
			return
		}
		offset := int64(0)
		for i, line := range got {
			inner := strings.TrimSuffix(want[i], "\n")
			assert.Equal(rt, i+1, line.No)
			assert.Equal(rt, offset, line.Offset)
			assert.Equal(rt, int64(len(want[i])), line.Size)
			assert.Equal(rt, len(inner) > most, line.TooLong)
			assert.Equal(rt, strings.HasSuffix(want[i], "\n"), line.Complete)
			if !line.TooLong {
				assert.Equal(rt, inner, string(line.Text))
			}
			offset += int64(len(want[i]))
		}
	})
}

// No bytes whatsoever make the reader fail, hang, or hand out what cannot be sent.
func FuzzReader(f *testing.F) {
	f.Add([]byte(good("a") + "\n" + good("b")))
	f.Add([]byte(goodBody + "\r\n{\"metadata\":1,\"messages\":[]}"))
	f.Add([]byte("\xef\xbb\xbf[\n"))
	f.Add([]byte("{\"custom_id\":\"a\",\"body\":{\"messages\":[\"\\u0000\"]}}"))
	f.Fuzz(func(t *testing.T, file []byte) {
		g := readAll(t, bytes.NewReader(file), Options{MaxLine: 1 << 16})
		seen := map[string]bool{}
		for _, r := range g.requests {
			assert.True(t, json.Valid(r.Body))
			assert.True(t, utf8.Valid(r.Body))
			assert.False(t, seen[r.ID])
			seen[r.ID] = true
			assert.LessOrEqual(t, r.Line, g.lines)
			assert.NotContains(t, g.rejects, r.Line)
		}
	})
}
