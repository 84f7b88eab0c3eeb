package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/throttletest"
)

// after gives a fault to every call but the first n.
func after(n int, f throttletest.Fault) throttletest.Option {
	return throttletest.WithFaults(func(k int, _ *httpRequest) *throttletest.Fault {
		if k <= n {
			return nil
		}
		return &f
	})
}

func TestASpentQuotaStopsTheJob(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm(after(500, throttletest.Fault{Status: 429, Body: []byte(`{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`)}))
		p := newProgram(t, requests(2000), up)
		d := p.send(t, "-concurrency", "10")
		assert.Equal(t, exitStopped, d.code)
		assert.Equal(t, 500, d.answered(), "what was done is kept")
		assert.LessOrEqual(t, up.Stats().Arrivals, 510, "no retries, and nothing new")
		assert.Contains(t, d.stderr, "insufficient_quota")
		assert.Contains(t, d.stderr, "the same command again")
		assert.LessOrEqual(t, len(d.byID(t)), 510)

		up2 := calm()
		p.up = up2
		d = p.send(t)
		assert.Equal(t, exitDone, d.code, d.stderr)
		assert.Len(t, d.byID(t), 2000)
		assert.Equal(t, 1500, up2.Stats().Arrivals)
	})
}

// HDR-25: ten requests on two workers, and an account without money. What is told twice at the most is told at once, and costs no retries.
func TestASpentQuotaFromTheStart(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm(after(0, throttletest.Fault{Status: 429, Body: []byte(`{"error":{"code":"insufficient_quota"}}`)}))
		d := newProgram(t, requests(10), up).send(t, "-concurrency", "2", "-max-attempts", "4")
		assert.Equal(t, exitStopped, d.code)
		assert.LessOrEqual(t, up.Stats().Arrivals, 2)
		assert.Less(t, d.took, 400*time.Millisecond, "two round trips")
		require.NotEmpty(t, d.out)
		assert.Equal(t, 429, d.out[0].Response.StatusCode)
		assert.Equal(t, 1, d.out[0].Attempts)
		assert.Contains(t, string(d.out[0].Response.Body), "insufficient_quota")
	})
}

func TestAWrongKeyStopsTheJobAtOnce(t *testing.T) {
	for _, status := range []int{401, 402, 403, 407} {
		virtual(t, func(t *testing.T) {
			up := calm(after(0, throttletest.Fault{Status: status, Body: []byte(`{"error":{"message":"Incorrect API key provided: sk-test-0123456789","type":"invalid_request_error","code":"invalid_api_key"}}`)}))
			p := newProgram(t, requests(100), up)
			d := p.send(t)
			assert.Equal(t, exitStopped, d.code)
			assert.Equal(t, 1, up.Stats().Arrivals, "the first request goes alone")
			assert.Contains(t, d.stderr, "invalid_api_key")
			assert.NotContains(t, d.stderr+outText(t, p), "0123456789")
			assert.Contains(t, outText(t, p), "[key]")

			p.up = calm() // with the right key everything is sent
			d = p.send(t)
			assert.Equal(t, exitDone, d.code)
			assert.Len(t, d.byID(t), 100)
		})
	}
}

func outText(t *testing.T, p *program) string {
	t.Helper()
	text, err := os.ReadFile(p.output())
	require.NoError(t, err)
	return string(text)
}

// A server that goes away for good must not turn the whole input into failures.
func TestAServerThatGoesAway(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm(after(100, throttletest.Fault{Reset: true}))
		p := newProgram(t, requests(1000), up)
		d := p.send(t, "-concurrency", "8", "-max-attempts", "2")
		assert.Equal(t, exitStopped, d.code)
		assert.Equal(t, 100, d.answered())
		assert.Less(t, len(d.out), 150)
		assert.Contains(t, d.stderr, "gets no usable answer")
		p.up = calm()
		d = p.send(t)
		assert.Equal(t, exitDone, d.code)
		assert.Len(t, d.byID(t), 1000)
	})
}

// A 403 among answers is about its request: a moderated prompt, a model that is not for everybody.
func TestALoneForbiddenRequestStopsNothing(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm(throttletest.WithFaults(throttletest.Statuses(0, 0, 403)))
		d := newProgram(t, requests(20), up).send(t, "-concurrency", "1")
		assert.Equal(t, exitSomeFailed, d.code)
		assert.Equal(t, 19, d.answered())
	})
}

func TestAHoldOfHoursStopsTheJob(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm(after(3, throttletest.Fault{Status: 429, Header: http.Header{"Retry-After": {"86400"}}}))
		d := newProgram(t, requests(50), up).send(t, "-concurrency", "4")
		assert.Equal(t, exitStopped, d.code)
		assert.Equal(t, 3, d.answered())
		assert.LessOrEqual(t, up.Stats().Arrivals, 3+4)
		assert.Contains(t, d.stderr, "go on after")
		assert.Less(t, d.took, time.Minute)
	})
}

func TestTheDeadline(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := newProgram(t, requests(100), calm())
		d := p.send(t, "-rpm", "10", "-deadline", "90s")
		assert.Equal(t, exitStopped, d.code)
		assert.Equal(t, 90*time.Second, d.took.Round(time.Second))
		assert.Equal(t, 20, d.answered())
		assert.Contains(t, d.stderr, "deadline of 1m30s")
	})
}

// Tokens are never spent beyond the cap, not even by calls under way, and earlier runs count.
func TestTheTokenCap(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm(throttletest.WithOutputTokens(8, 0))
		p := newProgram(t, requests(200), up)
		d := p.send(t, "-max-tokens-total", "1000")
		assert.Equal(t, exitStopped, d.code)
		spent := tokensOf(t, d)
		assert.LessOrEqual(t, spent, 1000)
		assert.Greater(t, spent, 900, "the cap is used")
		assert.Contains(t, d.stderr, "cap of 1000")

		d = p.send(t, "-max-tokens-total", "1500")
		assert.Equal(t, exitStopped, d.code)
		assert.LessOrEqual(t, tokensOf(t, d), 1500)
		assert.Greater(t, tokensOf(t, d), 1400)
		assert.Equal(t, exitDone, p.send(t).code)
	})
}

func tokensOf(t *testing.T, d done) (n int) {
	for _, r := range d.out {
		if r.Response == nil {
			continue
		}
		var body struct {
			Usage struct {
				Total int `json:"total_tokens"`
			} `json:"usage"`
		}
		require.NoError(t, json.Unmarshal(r.Response.Body, &body))
		n += body.Usage.Total
	}
	return n
}

// Paying for answers that cannot be kept is the worst that can happen.
func TestAFailingOutputStopsTheJob(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm()
		p := newProgram(t, requests(500), up)
		var stderr bytes.Buffer
		code := run(t.Context(), []string{"-i", p.input, "-url", apiHost, "-key-env", "", "-concurrency", "4"},
			world{env: func(string) string { return "" }, stdout: &closing{left: 3}, stderr: &stderr, network: up})
		assert.Equal(t, exitStopped, code)
		assert.LessOrEqual(t, up.Stats().Arrivals, 3+2*4)
		assert.Contains(t, stderr.String(), "broken pipe")
		assert.Contains(t, stderr.String(), "3 answered")
		assert.Contains(t, stderr.String(), "could not be kept")
	})
}

// closing is a reader that goes away after some lines.
type closing struct{ left int }

func (c *closing) Write(p []byte) (int, error) {
	if c.left--; c.left < 0 {
		return 0, errClosed
	}
	return len(p), nil
}

func TestAFullDiskIsNoticed(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		return // this system has no such device
	}
	virtual(t, func(t *testing.T) {
		up := calm()
		p := newProgram(t, requests(500), up)
		d := p.start(t, "-i", p.input, "-url", apiHost, "-o", "/dev/full", "-concurrency", "4")
		assert.Equal(t, exitStopped, d.code)
		assert.LessOrEqual(t, up.Stats().Arrivals, 8)
		assert.Contains(t, d.stderr, "no space left")
	})
}

func TestAnOutputThatCannotBeWrittenIsKnownBefore(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm()
		p := newProgram(t, requests(5), up)
		for _, out := range []string{p.dir, p.dir + "/no/such/place", "/proc/nothing"} {
			d := p.start(t, "-i", p.input, "-url", apiHost, "-o", out)
			assert.Equal(t, exitRefused, d.code)
			assert.Equal(t, 1, strings.Count(d.stderr, "\n"), d.stderr)
		}
		assert.Zero(t, up.Stats().Arrivals)
	})
}

// An input that breaks in the middle is told, and what was read is sent.
func TestABrokenPipeOfInput(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm()
		var stderr, stdout bytes.Buffer
		code := run(t.Context(), []string{"-url", apiHost, "-key-env", "", "-"},
			world{env: func(string) string { return "" }, stdin: io.MultiReader(strings.NewReader(requests(3)), brokenReader{}), stdout: &stdout, stderr: &stderr, network: up})
		assert.Equal(t, exitStopped, code)
		assert.Contains(t, stderr.String(), "the input cannot be read")
	})
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errClosed }
