package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sampleWant is a sidecar.
type sampleWant struct {
	ValidRequests int `json:"valid_requests"`
	Rejects       []struct {
		Line   int
		Reason string
	}
	IDs              []string
	FileError        string   `json:"file_error"`
	SentBodyContains []string `json:"sent_body_contains"`
}

func samples(t *testing.T, f func(t *testing.T, path string, want sampleWant)) {
	sidecars, err := filepath.Glob("testdata/samples/*.want.json")
	require.NoError(t, err)
	require.NotEmpty(t, sidecars)
	for _, sidecar := range sidecars {
		base := strings.TrimSuffix(sidecar, ".want.json")
		t.Run(filepath.Base(base), func(t *testing.T) {
			var want sampleWant
			text, err := os.ReadFile(sidecar)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(text, &want))
			virtual(t, func(t *testing.T) { f(t, base+".jsonl", want) })
		})
	}
}

// named is which lines standard error names, with the reason of each.
func named(t *testing.T, stderr, path string) map[int]string {
	all := map[int]string{}
	for _, m := range regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(path)+`:(\d+): (\w+)`).FindAllStringSubmatch(stderr, -1) {
		line, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		assert.NotContains(t, all, line, "one reason a line")
		all[line] = m[2]
	}
	return all
}

func wanted(w sampleWant) map[int]string {
	all := map[int]string{}
	for _, r := range w.Rejects {
		all[r.Line] = r.Reason
	}
	return all
}

// Each sample is sent as its sidecar says: the good lines, and no others.
func TestSamplesAreSent(t *testing.T) {
	samples(t, func(t *testing.T, path string, want sampleWant) {
		up := &watched{RoundTripper: calm()}
		p := newProgram(t, "", up)
		p.input = path
		d := p.send(t)
		assert.Len(t, up.seen, want.ValidRequests)
		if want.FileError != "" {
			assert.Equal(t, exitRefused, d.code)
			assert.NoFileExists(t, p.output())
			assert.Equal(t, 1, strings.Count(d.stderr, "\n"), "one sentence: %s", d.stderr)
			return
		}
		assert.Equal(t, wanted(want), named(t, d.stderr, path))
		assert.Equal(t, want.ValidRequests, d.answered())
		assert.Equal(t, map[bool]int{true: exitDone, false: exitSomeFailed}[len(want.Rejects) == 0], d.code)
		all := d.byID(t)
		for _, id := range want.IDs {
			assert.Contains(t, all, id)
		}
		for _, part := range want.SentBodyContains {
			assert.Contains(t, up.body[0], part)
		}
		for _, req := range up.seen {
			assert.Equal(t, apiHost+"/chat/completions", req.URL.String(), "the data never says where requests go")
		}
	})
}

// A dry run says the same and sends nothing; a strict one refuses the file for any bad line.
func TestSamplesAreChecked(t *testing.T) {
	samples(t, func(t *testing.T, path string, want sampleWant) {
		up := &watched{RoundTripper: calm()}
		p := newProgram(t, "", up)
		d := p.start(t, "-n", "-i", path)
		strict := p.start(t, "-strict", "-i", path, "-url", apiHost, "-o", p.output())
		switch {
		case want.FileError != "":
			assert.Equal(t, exitRefused, d.code)
			assert.Equal(t, exitRefused, strict.code)
		case len(want.Rejects) > 0:
			assert.Equal(t, exitSomeFailed, d.code)
			assert.Equal(t, exitRefused, strict.code)
			assert.NoFileExists(t, p.output())
			assert.Empty(t, up.seen)
		default:
			assert.Equal(t, exitDone, d.code)
			assert.Equal(t, exitDone, strict.code)
			assert.Len(t, up.seen, want.ValidRequests)
		}
		if want.FileError == "" {
			assert.Equal(t, wanted(want), named(t, d.stderr, path))
			assert.Contains(t, d.stderr, fmt.Sprintf("%d requests", want.ValidRequests))
		}
	})
}

// The metadata of a cookbook line is kept out of the request and comes back with the result.
func TestCookbookMetadata(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := &watched{RoundTripper: calm()}
		p := newProgram(t, "", up)
		p.input = "testdata/samples/02-cookbook-raw-bodies.jsonl"
		d := p.send(t)
		require.Equal(t, exitDone, d.code)
		for _, body := range up.body {
			assert.NotContains(t, body, "metadata")
		}
		all := d.byID(t)
		assert.JSONEq(t, `{"row_id":1}`, string(all["line-1"].Metadata))
		assert.Empty(t, all["line-2"].Metadata)
		assert.JSONEq(t, `{"row_id":3,"src":"crm"}`, string(all["line-3"].Metadata))
	})
}

// Also of lines that are no requests.
func TestCookbookMetadataOfBadLines(t *testing.T) {
	virtual(t, func(t *testing.T) {
		d := newProgram(t, `{"messages":[]}`+"\n"+`{"metadata":{"row":2},"messages":7}`+"\n"+`{"metadata":{"row":3},"messages":[],"stream":true}`+"\n", calm()).send(t)
		all := d.byID(t)
		assert.JSONEq(t, `{"row":2}`, string(all["line-2"].Metadata))
		assert.JSONEq(t, `{"row":3}`, string(all["line-3"].Metadata))
	})
}

// The envelope's body is what is sent, byte for byte, metadata included.
func TestBodiesAreSentAsTheyStand(t *testing.T) {
	virtual(t, func(t *testing.T) {
		body := `{ "model":"m",  "seed":9007199254740993, "temperature":0.10,"metadata":{"k":"<&>"}, "messages":[{"role":"user","content":"a\u2028b` + "\u2028" + `"}]}`
		up := &watched{RoundTripper: calm()}
		d := newProgram(t, `{"custom_id":"a","body":`+body+"}\r\n", up).send(t)
		require.Equal(t, exitDone, d.code)
		assert.Equal(t, []string{body}, up.body)
	})
}
