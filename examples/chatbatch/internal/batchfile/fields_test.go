package batchfile

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWithoutCutsOneMemberAndItsComma(t *testing.T) {
	for _, c := range []struct{ in, rest, taken string }{
		{`{"metadata":1}`, `{}`, `1`},
		{`{ "metadata" : {"a":[1,2]} }`, `{  }`, `{"a":[1,2]}`},
		{`{"metadata":1,"b":2}`, `{"b":2}`, `1`},
		{`{"a":1, "metadata":"x,}", "b":2}`, `{"a":1, "b":2}`, `"x,}"`},
		{`{"a":1 , "metadata":null}`, `{"a":1 }`, `null`},
		{`{"metadata":1,"a":0,"metadata":2}`, `{"a":0}`, `2`},
		{`{"a":{"metadata":1}}`, `{"a":{"metadata":1}}`, ``},
		{`{"Metadata":1}`, `{"Metadata":1}`, ``},
		{`{"meta\u0064ata":1,"a":2}`, `{"a":2}`, `1`},
	} {
		rest, taken := without([]byte(c.in), "metadata")
		assert.Equal(t, c.rest, string(rest), c.in)
		assert.Equal(t, c.taken, string(taken), c.in)
		assert.True(t, json.Valid(rest), c.in)
	}
}

func TestWithoutLeavesItsInputAlone(t *testing.T) {
	in := []byte(`{"metadata":1,"b":2}`)
	before := string(in)
	without(in, "metadata")
	assert.Equal(t, before, string(in))
}

// Whatever encoding/json makes of an object, the scanner must make the same of it.
func FuzzFieldsAgreeWithEncodingJSON(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":1}`, `{"a":"\"}","b":[{"c":"]"}], "d" : -1.5e3 , "e":null}`, `{"":{"":""}}`, `{"\u0061":true,"a":false}`, " {\t\"x\"\r\n:[ ] }"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		obj := []byte(strings.TrimLeft(text, " \t\r\n"))
		if !utf8.Valid(obj) || !json.Valid(obj) || !isObject(obj) {
			return
		}
		var want map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(obj, &want))
		got := map[string]json.RawMessage{}
		eachField(obj, func(f field) { got[f.key] = f.value })
		require.Len(t, got, len(want))
		for key, value := range want {
			assert.Equal(t, string(value), string(got[key]))
		}
		rest, _ := without(obj, "a")
		assert.True(t, json.Valid(rest), "%s", rest)
	})
}
