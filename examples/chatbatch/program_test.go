package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/throttletest"
)

const apiHost = "http://api.example/v1"

// program is one run of the program in virtual time, with an upstream for the whole network.
type program struct {
	dir        string
	input      string
	up         http.RoundTripper
	stdin      string
	env        map[string]string
	interrupts chan os.Signal
}

// done is how a run ended.
type done struct {
	code           int
	stdout, stderr string
	out            []result
	took           time.Duration
}

// result is a line of the output, as a stranger would read it.
type result struct {
	ID       string `json:"id"`
	CustomID string `json:"custom_id"`
	Response *struct {
		StatusCode int             `json:"status_code"`
		RequestID  string          `json:"request_id"`
		Body       json.RawMessage `json:"body"`
	} `json:"response"`
	Error *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Line     int             `json:"line"`
	Attempts int             `json:"attempts"`
	Earlier  int             `json:"earlier_attempts"`
	WaitedMS int64           `json:"waited_ms"`
	HeldMS   int64           `json:"held_ms"`
	SentAt   time.Time       `json:"sent_at"`
	BodyHash string          `json:"body_hash"`
	Metadata json.RawMessage `json:"metadata"`
}

func newProgram(t *testing.T, input string, up http.RoundTripper) *program {
	p := &program{dir: t.TempDir(), up: up, env: map[string]string{"OPENAI_API_KEY": "sk-test-0123456789"}, interrupts: make(chan os.Signal, 2)}
	p.input = filepath.Join(p.dir, "in.jsonl")
	p.write(t, "in.jsonl", input)
	return p
}

func (p *program) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(p.dir, name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func (p *program) output() string { return filepath.Join(p.dir, "out.jsonl") }

// start runs with these flags and nothing else.
func (p *program) start(t *testing.T, args ...string) done {
	t.Helper()
	var stdout, stderr bytes.Buffer
	w := world{
		env: func(name string) string { return p.env[name] }, stdin: strings.NewReader(p.stdin), stdout: &stdout, stderr: &stderr,
		interrupts: p.interrupts, network: p.up,
	}
	began := time.Now()
	d := done{code: run(t.Context(), args, w), took: time.Since(began)}
	d.stdout, d.stderr = stdout.String(), stderr.String()
	if text, err := os.ReadFile(p.output()); err == nil {
		d.out = parseResults(t, string(text))
	}
	return d
}

// send runs the usual job.
func (p *program) send(t *testing.T, args ...string) done {
	t.Helper()
	return p.start(t, append([]string{"-i", p.input, "-url", apiHost, "-o", p.output()}, args...)...)
}

// parseResults reads an output strictly: every line whole, valid, and with a newline.
func parseResults(t *testing.T, text string) (all []result) {
	t.Helper()
	require.True(t, text == "" || strings.HasSuffix(text, "\n"), "the output ends in half a line")
	in := bufio.NewScanner(strings.NewReader(text))
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var r result
		require.NoError(t, json.Unmarshal(in.Bytes(), &r), in.Text())
		all = append(all, r)
	}
	require.NoError(t, in.Err())
	return all
}

// byID fails on ids that occur twice.
func (d done) byID(t *testing.T) map[string]result {
	t.Helper()
	all := map[string]result{}
	for _, r := range d.out {
		_, twice := all[r.CustomID]
		require.False(t, twice, "two lines of %s", r.CustomID)
		all[r.CustomID] = r
	}
	return all
}

func (d done) answered() (n int) {
	for _, r := range d.out {
		if r.Response != nil && r.Response.StatusCode == 200 && r.Error == nil {
			n++
		}
	}
	return n
}

// requests writes n batch lines.
func requests(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintln(&b, request(fmt.Sprintf("id-%d", i), fmt.Sprintf("Question %d", i)))
	}
	return b.String()
}

func request(id, text string) string {
	return fmt.Sprintf(`{"custom_id":%q,"method":"POST","url":"/v1/chat/completions","body":{"model":"m","messages":[{"role":"user","content":%q}],"max_completion_tokens":16}}`, id, text)
}

// virtual runs f in a bubble whose clock moves only when everybody waits.
func virtual(t *testing.T, f func(t *testing.T)) { t.Helper(); synctest.Test(t, f) }

// calm is an upstream that takes its time and has no limits.
func calm(opts ...throttletest.Option) *throttletest.Upstream {
	return throttletest.NewUpstream(append([]throttletest.Option{
		throttletest.WithLatency(throttletest.Latency{Network: 5 * time.Millisecond, Service: throttletest.Constant(100 * time.Millisecond)}),
	}, opts...)...)
}

// watched counts and shows every request that passes.
type watched struct {
	http.RoundTripper
	mu   sync.Mutex
	seen []*http.Request
	body []string
}

func (w *watched) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := req.GetBody()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if _, err := b.ReadFrom(body); err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.seen = append(w.seen, req)
	w.body = append(w.body, b.String())
	w.mu.Unlock()
	return w.RoundTripper.RoundTrip(req)
}

func TestTheOrdinaryRun(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm()
		d := newProgram(t, requests(50), up).send(t)
		assert.Equal(t, exitDone, d.code, d.stderr)
		assert.Len(t, d.byID(t), 50)
		assert.Equal(t, 50, d.answered())
		assert.Equal(t, 50, up.Stats().Arrivals)
		assert.Contains(t, d.stderr, "50 answered, 0 failed")
		assert.Empty(t, d.stdout)
		r := d.byID(t)["id-7"]
		assert.Contains(t, string(r.Response.Body), "Question 7", "answers belong to their requests")
		assert.NotEmpty(t, r.Response.RequestID)
		assert.Equal(t, 1, r.Attempts)
		assert.Equal(t, 8, r.Line)
		assert.False(t, r.SentAt.IsZero())
		assert.Len(t, r.BodyHash, 16)
	})
}

// httpRequest shortens the signatures of the upstream's hooks.
type httpRequest = http.Request

var errClosed = errors.New("broken pipe")
