package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/throttletest"
)

// answering gives every request the same answer.
func answering(body string) throttletest.Option {
	return throttletest.WithAnswer(func(*httpRequest, []byte) []byte { return []byte(body) })
}

// The cap holds whatever the answers say of their usage, or do not, and it goes on over resumes.
func TestTheTokenCapHoldsWithoutUsage(t *testing.T) {
	for name, body := range map[string]string{
		"no usage":             `{"choices":[]}`,
		"usage null":           `{"choices":[],"usage":null}`,
		"usage of words":       `{"choices":[],"usage":{"total_tokens":"100"}}`,
		"usage with fractions": `{"choices":[],"usage":{"total_tokens":100.0}}`,
		"usage without total":  `{"choices":[],"usage":{"prompt_tokens":60,"completion_tokens":40}}`,
		"usage of nothing":     `{"choices":[],"usage":{"total_tokens":0}}`,
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				up := calm(answering(body))
				p := newProgram(t, requests(200), up)
				d := p.send(t, "-max-tokens-total", "1000")
				assert.Equal(t, exitStopped, d.code)
				sent := up.Stats().Arrivals
				assert.Less(t, sent, 100)
				assert.GreaterOrEqual(t, sent, 9)
				for range 3 {
					d = p.send(t, "-max-tokens-total", "1000")
					assert.Equal(t, exitStopped, d.code)
				}
				assert.LessOrEqual(t, up.Stats().Arrivals, sent+1, "what was estimated at first may leave room for one more")
			})
		})
	}
}

// Requests that were sent and told nothing may have cost what they could; so they count, though they are sent again.
func TestTheTokenCapCountsLostAnswers(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm(after(0, throttletest.Fault{Delay: time.Hour}))
		p := newProgram(t, requests(200), up)
		args := []string{"-max-tokens-total", "500", "-concurrency", "10", "-deadline", "20s", "-grace", "1s"}
		p.send(t, args...)
		first := up.Stats().Arrivals
		require.Positive(t, first)
		for range 4 {
			p.send(t, args...)
		}
		assert.LessOrEqual(t, up.Stats().Arrivals, 500/16)
		assert.Greater(t, up.Stats().Arrivals, first, "the cap is used")
	})
}

// Refusals cost nothing.
func TestTheTokenCapForgetsRefusals(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm(after(0, throttletest.Fault{Status: 400}))
		d := newProgram(t, requests(100), up).send(t, "-max-tokens-total", "100", "-concurrency", "1")
		assert.Equal(t, exitSomeFailed, d.code, d.stderr)
		assert.Equal(t, 100, up.Stats().Arrivals)
	})
}

// A stop does not make the day longer: what it cut off was sent, leaves a line that says so, and counts.
func TestRequestsThatAreCutOffCount(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm(after(0, throttletest.Fault{Delay: time.Hour}))
		p := newProgram(t, requests(8), up)
		args := []string{"-rpd", "4", "-deadline", "2500ms", "-grace", "100ms"}
		for range 3 {
			d := p.send(t, args...)
			assert.Equal(t, exitStopped, d.code)
			assert.Len(t, d.byID(t), 4)
			for _, r := range d.out {
				assert.Equal(t, "cancelled", r.Error.Code)
				assert.Nil(t, r.Response)
			}
			time.Sleep(time.Minute)
		}
		assert.Equal(t, 4, up.Stats().Arrivals)
		time.Sleep(24 * time.Hour)
		p.up = calm()
		p.send(t, "-rpd", "4")
		time.Sleep(25 * time.Hour)
		d := p.send(t, "-rpd", "4")
		assert.Equal(t, exitDone, d.code, d.stderr)
		assert.Equal(t, 8, d.answered())
	})
}

// Also the refusal that stops a job leaves its line.
func TestTheRefusalThatStopsAJobIsKept(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm(after(3, throttletest.Fault{Status: 429, Header: map[string][]string{"Retry-After": {"86400"}}}))
		d := newProgram(t, requests(50), up).send(t, "-concurrency", "4")
		assert.Equal(t, exitStopped, d.code)
		require.Len(t, d.byID(t), up.Stats().Arrivals)
		last := d.out[len(d.out)-1]
		assert.Equal(t, 429, last.Response.StatusCode)
		assert.Equal(t, 1, last.Attempts)
	})
}

// The time is that of the whole run, and no average wait is longer.
func TestTheTimesOfAnEndlessRefusal(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm(after(0, throttletest.Fault{Status: 503}))
		d := newProgram(t, requests(50), up).send(t, "-concurrency", "4", "-deadline", "45s", "-max-attempts", "100")
		assert.Equal(t, 45*time.Second, d.took.Round(time.Second))
		assert.Contains(t, d.stderr, "time      45s")
		for line := range strings.Lines(d.stderr) {
			if words := strings.Fields(line); len(words) > 1 && words[0] == "waited" {
				for _, word := range words[1:] {
					if wait, err := time.ParseDuration(word); err == nil {
						assert.LessOrEqual(t, wait, 45*time.Second, line)
					}
				}
			}
		}
	})
}
