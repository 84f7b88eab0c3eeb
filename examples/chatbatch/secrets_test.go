package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/throttletest"
)

const secret = "sk-proj-very-secret-0123456789"

// The key goes to the host of -url and to nobody else, and is written nowhere, not even when the server says it.
func TestTheKeyStaysWhereItBelongs(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := &watched{RoundTripper: calm(throttletest.WithAnswer(func(r *httpRequest, _ []byte) []byte {
			return []byte(`{"choices":[],"echo":"` + r.Header.Get("Authorization") + `"}`)
		}))}
		p := newProgram(t, "", up)
		p.input = "testdata/samples/31-hostile-urls.jsonl"
		p.env["MY_KEY"] = secret + "\n"
		d := p.send(t, "-key-env", "MY_KEY", "-report", filepath.Join(p.dir, "report.html"))
		require.Len(t, up.seen, 2)
		for _, req := range up.seen {
			assert.Equal(t, "api.example", req.URL.Host)
			assert.Equal(t, "Bearer "+secret, req.Header.Get("Authorization"))
		}
		assert.Contains(t, outText(t, p), "Bearer [key]")
		files, err := os.ReadDir(p.dir)
		require.NoError(t, err)
		for _, f := range files {
			text, err := os.ReadFile(filepath.Join(p.dir, f.Name()))
			require.NoError(t, err)
			assert.NotContains(t, string(text), "very-secret", f.Name())
		}
		assert.NotContains(t, d.stdout+d.stderr, "very-secret")
	})
}

// A redirect is an answer like any other: following it would take the key, or the request, elsewhere.
func TestRedirectsAreNotFollowed(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer first.Close()
	p := newProgram(t, requests(2), nil)
	d := p.start(t, "-i", p.input, "-url", first.URL, "-o", p.output())
	assert.Equal(t, exitStopped, d.code)
	assert.Contains(t, d.stderr, other.URL, "where the server wanted them to go is told")
	assert.Zero(t, elsewhere.Load())
	assert.Equal(t, 307, d.out[0].Response.StatusCode)
}

func TestKeysAndHosts(t *testing.T) {
	for _, c := range []struct {
		name, url string
		args      []string
		env       string
		want      string // of the header; "!" begins an error
	}{
		{"default variable", "https://api.example", nil, "k1", "Bearer k1"},
		{"no key for a foreign host", "https://api.example", nil, "", "!OPENAI_API_KEY is not set"},
		{"no key needed here", "http://127.0.0.1:9", nil, "", ""},
		{"nor here", "http://[::1]:9", nil, "", ""},
		{"nor here", "http://localhost:9", nil, "", ""},
		{"but one that is named must be there", "http://localhost:9", []string{"-key-env", "OTHER"}, "k1", "!OTHER is not set"},
		{"none at all", "https://api.example", []string{"-key-env", ""}, "k1", ""},
		{"white space around", "https://api.example", nil, " k1\r\n", "Bearer k1"},
		{"line break within", "https://api.example", nil, "k1\nk2", "!characters that no key has"},
		{"own header", "https://api.example", []string{"-key-header", "api-key"}, "k1", "k1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := parseFlags(append([]string{"-i", "x", "-url", c.url}, c.args...), io.Discard)
			require.NoError(t, err)
			target, err := newTarget(s, func(name string) string { return map[string]string{"OPENAI_API_KEY": c.env}[name] })
			if message, bad := strings.CutPrefix(c.want, "!"); bad {
				require.ErrorContains(t, err, message)
				assert.NotContains(t, err.Error(), "k1")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, target.header.Get(s.keyHeader))
		})
	}
}

func TestWhereRequestsGo(t *testing.T) {
	for base, want := range map[string]string{
		"https://api.openai.com/v1":            "https://api.openai.com/v1/chat/completions",
		"https://api.openai.com/v1/":           "https://api.openai.com/v1/chat/completions",
		"http://127.0.0.1:8000":                "http://127.0.0.1:8000/v1/chat/completions",
		"http://127.0.0.1:8000/":               "http://127.0.0.1:8000/v1/chat/completions",
		"https://a.example/chat/completions":   "https://a.example/chat/completions",
		"https://a.example/openai/d/x?api=1#f": "https://a.example/openai/d/x/chat/completions?api=1",
	} {
		u, err := parseBase(base)
		require.NoError(t, err, base)
		assert.Equal(t, want, u.String())
	}
	for _, base := range []string{"", "api.example/v1", "ftp://a.example", "https://", "https://user:pass@a.example", "://", "https://a b"} {
		_, err := parseBase(base)
		require.Error(t, err, base)
		assert.NotContains(t, err.Error(), "pass@")
	}
}
