package batchfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const goodBody = `{"model":"m","messages":[{"role":"user","content":"hi"}]}`

func good(id string) string {
	quoted, err := json.Marshal(id)
	if err != nil {
		return err.Error() // never: every string can be written
	}
	return fmt.Sprintf(`{"custom_id":%s,"body":%s}`, quoted, goodBody)
}

// Every row is the second line of a file whose first line is a good batch line.
func TestReasonsOfAnEnvelopeLine(t *testing.T) {
	long := strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001)
	for _, c := range []struct {
		name, line string
		want       Reason
		detail     string
	}{
		{"bad byte", `{"custom_id":"a` + "\xe9" + `"}`, InvalidUTF8, "column 16"},
		{"bad byte and bad JSON", `{` + "\xe9", InvalidUTF8, "column 2"},
		{"no brace at the end", `{"custom_id":"b"`, InvalidJSON, "before the object does"},
		{"bare key", `{custom_id:1}`, InvalidJSON, "column 2"},
		{"NULs", "\x00\x00\x00", InvalidJSON, "column 1"},
		{"nested too deep", `{"custom_id":"b","body":` + long + `}`, InvalidJSON, "depth"},
		{"two objects", good("b") + good("c"), TrailingData, "column"},
		{"two objects with a CR", good("b") + "\r" + good("c"), TrailingData, "CR line ends?"},
		{"comma behind", good("b") + ",", TrailingData, "column"},
		{"list", `[1,2,3]`, NotAnObject, ""},
		{"text", `"hello"`, NotAnObject, ""},
		{"null", `null`, NotAnObject, ""},
		{"number", `17`, NotAnObject, ""},
		{"bare body", goodBody, WrongFormat, "custom_id"},
		{"bare embeddings body", `{"input":"x"}`, WrongFormat, ""},
		{"no id", `{"body":` + goodBody + `}`, MissingCustomID, ""},
		{"id null", `{"custom_id":null,"body":` + goodBody + `}`, MissingCustomID, ""},
		{"id empty", `{"custom_id":"","body":` + goodBody + `}`, MissingCustomID, "empty"},
		{"empty object", `{}`, MissingCustomID, ""},
		{"keys in the wrong case", `{"Custom_ID":"b","Body":` + goodBody + `}`, MissingCustomID, "case"},
		{"id a number", `{"custom_id":2,"body":` + goodBody + `}`, CustomIDNotString, ""},
		{"id with half a pair", `{"custom_id":"x\ud800","body":` + goodBody + `}`, CustomIDNotString, "surrogate"},
		{"id with the wrong half", `{"custom_id":"\udc00\ud800y","body":` + goodBody + `}`, CustomIDNotString, "surrogate"},
		{"id true", `{"custom_id":true}`, CustomIDNotString, ""},
		{"no body", `{"custom_id":"b"}`, MissingBody, "'body'"},
		{"params", `{"custom_id":"b","params":{}}`, MissingBody, "'params'"},
		{"body null", `{"custom_id":"b","body":null}`, BodyNotObject, ""},
		{"body a text", `{"custom_id":"b","body":"{}"}`, BodyNotObject, ""},
		{"body a list", `{"custom_id":"b","body":[]}`, BodyNotObject, ""},
		{"GET", `{"custom_id":"b","method":"GET","body":` + goodBody + `}`, MethodNotPost, ""},
		{"method a number", `{"custom_id":"b","method":1,"body":` + goodBody + `}`, MethodNotPost, ""},
		{"absolute url", `{"custom_id":"b","url":"https://evil.invalid/v1/chat/completions","body":` + goodBody + `}`, URLNotRelative, "-url"},
		{"escaped absolute url", `{"custom_id":"b","url":"https:\/\/evil.invalid\/","body":` + goodBody + `}`, URLNotRelative, ""},
		{"url without a scheme", `{"custom_id":"b","url":"//evil.invalid/","body":` + goodBody + `}`, URLNotRelative, ""},
		{"other endpoint", `{"custom_id":"b","url":"/v1/embeddings","body":` + goodBody + `}`, URLNotSupported, ""},
		{"dots", `{"custom_id":"b","url":"/v1/../v1/chat/completions","body":` + goodBody + `}`, URLNotSupported, ""},
		{"url a number", `{"custom_id":"b","url":7,"body":` + goodBody + `}`, URLNotSupported, ""},
		{"stream", `{"custom_id":"b","body":{"stream":true,"messages":[]}}`, StreamNotSupported, ""},
		{"no messages", `{"custom_id":"b","body":{"model":"m"}}`, MissingMessages, ""},
		{"messages null", `{"custom_id":"b","body":{"messages":null}}`, MissingMessages, ""},
		{"messages a text", `{"custom_id":"b","body":{"messages":"hi"}}`, MissingMessages, ""},
		{"embeddings", `{"custom_id":"b","body":{"input":"hi"}}`, MissingMessages, "'input'"},
		{"same id", good("first"), DuplicateCustomID, "line 1"},
		{"same id, spelled otherwise", `{"custom_id":"fi\u0072st","body":` + goodBody + `}`, DuplicateCustomID, "line 1"},
		{"first reason wins", `{"custom_id":"","body":null,"method":"GET"}`, MissingCustomID, ""},
		{"duplicate comes last", `{"custom_id":"first","method":"GET","body":` + goodBody + `}`, MethodNotPost, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := readAll(t, strings.NewReader(good("first")+"\n"+c.line+"\n"), Options{})
			require.Len(t, g.requests, 1)
			require.Contains(t, g.rejects, 2)
			assert.Equal(t, c.want, g.rejects[2].Reason)
			assert.Contains(t, g.rejects[2].Error(), string(c.want))
			assert.Contains(t, g.rejects[2].Detail, c.detail)
		})
	}
}

func TestWhatAnEnvelopeLineMayLookLike(t *testing.T) {
	for name, line := range map[string]string{
		"method in small letters": `{"custom_id":"b","method":"post","body":` + goodBody + `}`,
		"nulls for defaults":      `{"custom_id":"b","method":null,"url":null,"body":` + goodBody + `}`,
		"url without version":     `{"custom_id":"b","url":"/chat/completions","body":` + goodBody + `}`,
		"stream false":            `{"custom_id":"b","body":{"stream":false,"messages":[]}}`,
		"white space":             " \t" + `{ "custom_id" : "b" , "body" : ` + goodBody + " } \t\r",
		"unknown fields":          `{"a":[{"custom_id":1}],"custom_id":"b","body":` + goodBody + `,"z":{"body":2}}`,
		"doubled id, last counts": `{"custom_id":1,"custom_id":"b","body":` + goodBody + `}`,
		"escaped key":             `{"custom_\u0069d":"b","body":` + goodBody + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			g := readAll(t, strings.NewReader(good("a")+"\n"+line+"\n"), Options{})
			require.Empty(t, g.rejects)
			require.Len(t, g.requests, 2)
			assert.Equal(t, "b", g.requests[1].ID)
		})
	}
}

func TestIDsOfRejectedLinesAreKnown(t *testing.T) {
	g := readAll(t, strings.NewReader(good("a")+"\n"+`{"custom_id":"b","body":7}`+"\n"+good("a")+"\n"), Options{})
	assert.Equal(t, "b", g.rejects[2].ID)
	assert.Equal(t, "a", g.rejects[3].ID)
}

func TestARejectedLineDoesNotTakeItsID(t *testing.T) {
	g := readAll(t, strings.NewReader(`{"custom_id":"a","body":7}`+"\n"+good("a")+"\n"), Options{})
	require.Len(t, g.requests, 1)
	assert.Equal(t, 2, g.requests[0].Line)
}

// Bad lines take their ids from further bad ones, so that there is one result for each; a good line has it before all bad ones.
func TestBadLinesKnowWhoHasTheirID(t *testing.T) {
	bad := `{"custom_id":"a","body":"oops"}`
	g := readAll(t, strings.NewReader(bad+"\n"+bad+"\n"+good("a")+"\n"+bad+"\n"+good("a")+"\n"), Options{})
	require.Len(t, g.requests, 1)
	for line, first := range map[int]int{1: 0, 2: 1, 4: 3, 5: 3} {
		assert.Equal(t, first, g.rejects[line].FirstLine, "line %d", line)
	}
	assert.Equal(t, BodyNotObject, g.rejects[4].Reason)
	assert.Equal(t, DuplicateCustomID, g.rejects[5].Reason)
}

func TestHalfPairs(t *testing.T) {
	for text, want := range map[string]bool{
		`"x"`: false, `"\ud83d\ude00"`: false, `"\\ud800"`: false, `"\\\ud800"`: true, `"\ud800"`: true, `"\ud800x"`: true, `"\ud800\n"`: true, `"\udc00"`: true,
		`"\ud800\ud800\udc00"`: true, `"\u00e9\ufffd"`: false, `"\ud83d\ude00\ud83d"`: true,
	} {
		assert.Equal(t, want, halfPair([]byte(text)), text)
	}
}

func TestTheBodyStaysAsItStood(t *testing.T) {
	body := `{ "seed": 9007199254740993,  "t":0.10, "p":1e-3, "x":"<b>&amp;` + "\u2028" + `\u00e9", "messages":[ {} ] ,"seed":1}`
	g := readAll(t, strings.NewReader(`{"custom_id":"a","body":`+body+`}`), Options{})
	require.Len(t, g.requests, 1)
	assert.Equal(t, body, string(g.requests[0].Body))
}

func TestCookbookLines(t *testing.T) {
	text := `{"model":"m","messages":[1]}` + "\n\n" + `{"metadata": {"row": [1, 2]} , "messages":[ 0.10 ]}` + "\n" + good("x") + "\n" +
		`{"messages":[],"custom_id":"y"}` + "\n" + `{"input":"x"}` + "\n" + `{"stream":true,"messages":[]}` + "\n" + `{"metadata":"kept"}` + "\n"
	g := readAll(t, strings.NewReader(text), Options{})
	require.Len(t, g.requests, 2)
	assert.Equal(t, Cookbook, g.format)
	assert.Equal(t, &Request{Line: 1, ID: "line-1", Model: "m", Body: []byte(`{"model":"m","messages":[1]}`)}, g.requests[0])
	assert.Equal(t, &Request{Line: 3, ID: "line-3", Body: []byte(`{"messages":[ 0.10 ]}`), Metadata: []byte(`{"row": [1, 2]}`)}, g.requests[1])
	assert.Equal(t, WrongFormat, g.rejects[4].Reason)
	assert.Equal(t, WrongFormat, g.rejects[5].Reason)
	assert.Equal(t, MissingMessages, g.rejects[6].Reason)
	assert.Equal(t, "line-6", g.rejects[6].ID)
	assert.Equal(t, `"kept"`, string(g.rejects[8].Metadata))
	assert.Equal(t, StreamNotSupported, g.rejects[7].Reason)
}

func TestTheFirstUsableLineSetsTheFormat(t *testing.T) {
	g := readAll(t, strings.NewReader(`{"foo":1}`+"\n[]\n"+goodBody+"\n"+good("a")+"\n"), Options{})
	assert.Equal(t, Cookbook, g.format)
	assert.Equal(t, WrongFormat, g.rejects[1].Reason)
	assert.Equal(t, NotAnObject, g.rejects[2].Reason)
	assert.Equal(t, WrongFormat, g.rejects[4].Reason)
}

func TestTheFormatMayBeSetBeforehand(t *testing.T) {
	g := readAll(t, strings.NewReader(goodBody+"\n"+good("a")+"\n"), Options{Format: Envelope})
	assert.Equal(t, WrongFormat, g.rejects[1].Reason)
	assert.Len(t, g.requests, 1)
}

func TestFilesThatAreRefused(t *testing.T) {
	for _, c := range []struct{ name, text, code string }{
		{"empty", "", NoRequests},
		{"only a mark", "\xef\xbb\xbf", NoRequests},
		{"blank", "\n \t\r\n", NoRequests},
		{"UTF-16 little-endian", "\xff\xfe{\x00", NotUTF8},
		{"UTF-16 big-endian", "\xfe\xff\x00{", NotUTF8},
		{"gzip", "\x1f\x8b\x08\x00", Compressed},
		{"array", "\n [ \n{},\n]\n", JSONArray},
		{"array that begins on its line", "[{\"custom_id\":\"a\"},\n{}]\n", JSONArray},
		{"array with objects over lines", "[{\n", JSONArray},
		{"array behind a mark", "\xef\xbb\xbf[\r\n{},\n]\n", JSONArray},
		{"pretty", "{\n\"custom_id\": 1\n}\n", PrettyPrinted},
		{"table", "id,prompt\n1,hi\n", NotJSONL},
		{"array on one line", "[{},{}]\n", NotJSONL},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := readAll(t, strings.NewReader(c.text), Options{})
			require.NotNil(t, g.fileError)
			assert.Equal(t, c.code, g.fileError.Code)
			assert.NotEmpty(t, g.fileError.Error())
			assert.Empty(t, g.requests)
		})
	}
}

func TestAMarkIsTakenOffOnlyAtTheStart(t *testing.T) {
	g := readAll(t, strings.NewReader("\xef\xbb\xbf"+good("a")+"\n\xef\xbb\xbf"+good("b")+"\n"), Options{})
	require.Len(t, g.requests, 1)
	assert.Equal(t, InvalidJSON, g.rejects[2].Reason)
}

// The cap keeps a line out, says so, and the lines behind it are read.
func TestAnOverLongLineIsRejectedAndTheRestGoesOn(t *testing.T) {
	long := strings.Replace(good("b"), "hi", strings.Repeat("x", 70<<10), 1)
	tooLong := strings.Replace(good("c"), "hi", strings.Repeat("x", 2<<20), 1)
	g := readAll(t, strings.NewReader(tooLong+"\n"+long+"\n"+good("d")), Options{MaxLine: 1 << 20})
	require.Len(t, g.requests, 2)
	assert.Equal(t, LineTooLong, g.rejects[1].Reason)
	only := readAll(t, strings.NewReader(tooLong+"\n"), Options{MaxLine: 1 << 20})
	assert.Nil(t, only.fileError, "it may be an object")
	assert.Equal(t, LineTooLong, only.rejects[1].Reason)
	assert.Equal(t, long[len(`{"custom_id":"b","body":`):len(long)-1], string(g.requests[0].Body))
}

func TestTheReadersErrorIsPassedOn(t *testing.T) {
	broken := errors.New("the disk is gone")
	in, err := NewReader(io.MultiReader(strings.NewReader(good("a")+"\n"), iotest.ErrReader(broken)), Options{})
	require.NoError(t, err)
	_, err = in.Next()
	require.NoError(t, err)
	_, err = in.Next()
	assert.ErrorIs(t, err, broken)
}

func TestFormatNamesRoundTrip(t *testing.T) {
	for _, f := range []Format{Unknown, Envelope, Cookbook} {
		back, err := ParseFormat(f.String())
		require.NoError(t, err)
		assert.Equal(t, f, back)
	}
	_, err := ParseFormat("csv")
	assert.ErrorContains(t, err, `"csv"`)
}

func TestCloneOutlivesTheLine(t *testing.T) {
	in, err := NewReader(strings.NewReader(good("a")+"\n"+good("b")+"\n"), Options{})
	require.NoError(t, err)
	item, err := in.Next()
	require.NoError(t, err)
	kept := item.Request.Clone()
	clear(item.Request.Body)
	assert.Equal(t, goodBody, string(kept.Body))
	assert.NotEqual(t, kept.Hash(), item.Request.Hash())
	assert.Len(t, kept.Hash(), 16)
}
