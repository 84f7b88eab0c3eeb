package throttletest

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestStreamsSayTheSameAsAnswers puts streams of any length together again.
func TestStreamsSayTheSameAsAnswers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := &call{ask: ask{last: rapid.String().Draw(t, "text"), input: 3}}
		k.output = float64(rapid.IntRange(1, 5000).Draw(t, "tokens"))
		v := &verdict{n: 5, at: dawn}
		var text strings.Builder
		var total float64
		f := chatStream(k, v, time.Millisecond)
		took, _ := f.lasts()
		for i, p := range f.pieces {
			data, isEvent := bytes.CutPrefix(p.data, []byte("data: "))
			if !isEvent || !bytes.HasSuffix(data, []byte("\n\n")) {
				t.Fatalf("event %d is %q", i, p.data)
			}
			if i == len(f.pieces)-1 {
				break // [DONE]
			}
			var e chat
			if err := json.Unmarshal(data, &e); err != nil || e.ID != "chatcmpl-5" {
				t.Fatalf("event %d is %s: %v", i, data, err)
			}
			for _, c := range e.Choices {
				text.WriteString(c.Delta.Content)
			}
			if e.Usage != nil {
				total += e.Usage.Total
			}
		}
		var whole chat
		if err := json.Unmarshal(chatBody(k, v), &whole); err != nil {
			t.Fatal(err)
		}
		if said := whole.Choices[0].Message.Content; said != text.String() || total != whole.Usage.Total {
			t.Fatalf("%q of %v tokens as a stream, %q of %v as a whole", text.String(), total, said, whole.Usage.Total)
		}
		if want := time.Duration(k.output) * time.Millisecond; took < want-time.Microsecond || took > want {
			t.Fatalf("%v tokens took %v", k.output, took)
		}
	})
}

// TestFlowsKeepTheirWord compares a flow that suffers at random with what it promised, and with the arithmetic of its fault.
func TestFlowsKeepTheirWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "text")
		f := unary(text)
		fault := &Fault{
			Drip: time.Duration(rapid.IntRange(0, 2).Draw(t, "drip")) * time.Second, Pad: rapid.Int64Range(0, 100_000).Draw(t, "pad"),
			Torn: rapid.Bool().Draw(t, "torn"), After: rapid.Int64Range(0, 110_000).Draw(t, "after"),
		}
		f.suffer(fault)
		promised := int64(len(text)) + fault.Pad
		lasts, ends := f.lasts()
		if f.length() != promised || !ends {
			t.Fatalf("promises %d bytes", f.length())
		}
		data, took, err := drain(f, 1<<30)
		want, wantErr := promised, io.EOF
		if fault.Torn {
			want, wantErr = min(promised, fault.After), errTorn
		}
		if int64(len(data)) != want || err != wantErr || took != lasts {
			t.Fatalf("%d bytes in %v and %v, want %d in %v", len(data), took, err, want, lasts)
		}
		if n := min(len(data), len(text)); !bytes.Equal(data[:n], text[:n]) || len(bytes.Trim(data[n:], " ")) > 0 {
			t.Fatalf("other bytes")
		}
	})
}

func FuzzAsk(f *testing.F) {
	for _, seed := range []string{hello + "}", `{"prompt":["a",[1,{"text":"b"}]],"max_tokens":1e9}`, `[]`, `{"messages":{"content":{"text":"x"}}}`, "\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		a, ok := parseAsk(body)
		if a.input < 0 || a.limit() < 0 || a.input > float64(len(body)) {
			t.Errorf("%q has %v tokens and may give %v", body, a.input, a.limit())
		}
		if !ok && (a.input > 0 || a.Stream || a.last != "") {
			t.Errorf("%q is no call, but was read as %+v", body, a)
		}
	})
}
