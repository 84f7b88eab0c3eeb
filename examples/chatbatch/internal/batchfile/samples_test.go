package batchfile

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// want is what a sample's sidecar says about it.
type want struct {
	Format        string
	LinesTotal    *int `json:"lines_total"`
	ValidRequests int  `json:"valid_requests"`
	Rejects       []struct {
		Line   int
		Reason Reason
	}
	IDs              []string
	FirstSeen        map[int]int `json:"first_seen"`
	FileError        string      `json:"file_error"`
	SentBodyContains []string    `json:"sent_body_contains"`
}

type got struct {
	requests  []*Request
	rejects   map[int]*Reject
	lines     int
	format    Format
	fileError *FileError
}

func readAll(t *testing.T, r io.Reader, o Options) got {
	t.Helper()
	g := got{rejects: map[int]*Reject{}}
	in, err := NewReader(r, o)
	for err == nil {
		var item Item
		if item, err = in.Next(); err != nil {
			break
		}
		if item.Reject != nil {
			g.rejects[item.Line] = item.Reject
			continue
		}
		g.requests = append(g.requests, item.Request.Clone())
	}
	if !errors.Is(err, io.EOF) {
		require.ErrorAs(t, err, &g.fileError)
	}
	if in != nil {
		g.lines, g.format = in.Lines(), in.Format()
	}
	return g
}

func TestSamplesBehaveAsTheirSidecarsSay(t *testing.T) {
	sidecars, err := filepath.Glob("../../testdata/samples/*.want.json")
	require.NoError(t, err)
	require.NotEmpty(t, sidecars)
	for _, sidecar := range sidecars {
		t.Run(strings.TrimSuffix(filepath.Base(sidecar), ".want.json"), func(t *testing.T) { checkSample(t, sidecar) })
	}
}

func checkSample(t *testing.T, sidecar string) {
	var w want
	text, err := os.ReadFile(sidecar)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &w))
	file, err := os.Open(strings.TrimSuffix(sidecar, ".want.json") + ".jsonl")
	require.NoError(t, err)
	defer file.Close()
	g := readAll(t, file, Options{})
	if w.FileError != "" {
		require.NotNil(t, g.fileError)
		assert.Equal(t, w.FileError, g.fileError.Code)
		return
	}
	require.Nil(t, g.fileError)
	compareLines(t, w, g)
}

func compareLines(t *testing.T, w want, g got) {
	assert.Equal(t, *w.LinesTotal, g.lines)
	assert.Len(t, g.requests, w.ValidRequests)
	if w.ValidRequests > 0 {
		assert.Equal(t, w.Format, g.format.String())
	}
	reasons := map[int]Reason{}
	for line, r := range g.rejects {
		reasons[line] = r.Reason
	}
	wanted := map[int]Reason{}
	for _, r := range w.Rejects {
		wanted[r.Line] = r.Reason
	}
	assert.Equal(t, wanted, reasons)
	for line, first := range w.FirstSeen {
		assert.Equal(t, first, g.rejects[line].FirstLine)
	}
	for i, id := range w.IDs {
		assert.Equal(t, id, g.requests[i].ID)
	}
	for _, part := range w.SentBodyContains {
		assert.Contains(t, string(g.requests[0].Body), part)
	}
}
