package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/throttletest"
)

// writeLarge writes n batch lines with the long tail of prompt sizes that classification jobs have, about 350 bytes a line.
func writeLarge(tb testing.TB, n int) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "large.jsonl")
	file, err := os.Create(path)
	require.NoError(tb, err)
	w, random := bufio.NewWriter(file), rand.New(rand.NewPCG(1, 1))
	words := strings.Fields("river lake stone cloud engine ticket invoice refund printer harvest violin copper orbit 东 北 café naïve Größe 😀")
	for i := range n {
		var text strings.Builder
		for range min(600, 3+int(random.ExpFloat64()*22)) {
			text.WriteString(words[random.IntN(len(words))])
			text.WriteByte(' ')
		}
		fmt.Fprintf(w, `{"custom_id": "row-%07d", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "test-model-small", `+
			`"messages": [{"role": "user", "content": "%s"}], "max_completion_tokens": 64}}`+"\n", i, text.String())
	}
	require.NoError(tb, w.Flush())
	require.NoError(tb, file.Close())
	return path
}

// BenchmarkCheck is the whole check of 100,000 lines before the first request.
func BenchmarkCheck(b *testing.B) {
	path := writeLarge(b, 100_000)
	info, err := os.Stat(path)
	require.NoError(b, err)
	b.SetBytes(info.Size())
	b.ReportAllocs()
	for b.Loop() {
		code := run(b.Context(), []string{"-n", "-i", path}, world{env: os.Getenv, stdout: io.Discard, stderr: io.Discard})
		require.Equal(b, exitDone, code)
	}
}

// BenchmarkLoopback sends 20,000 lines over real sockets to a server in the same process, where no limit binds.
func BenchmarkLoopback(b *testing.B) {
	const n = 20_000
	path := writeLarge(b, n)
	server := httptest.NewServer(throttletest.NewUpstream(throttletest.WithLog(0)))
	defer server.Close()
	for b.Loop() {
		code := run(b.Context(), []string{"-q", "-overwrite", "-i", path, "-url", server.URL, "-o", filepath.Join(b.TempDir(), "out.jsonl")},
			world{env: os.Getenv, stdout: io.Discard, stderr: io.Discard})
		require.Equal(b, exitDone, code)
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}
