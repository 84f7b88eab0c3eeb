package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/batchfile"
	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/job"
	"github.com/seed-18ca0a92/throttle/llm"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

func TestTimesForPersons(t *testing.T) {
	for in, want := range map[time.Duration]string{
		0: "0s", 1234567 * time.Nanosecond: "1ms", 1234567 * time.Microsecond: "1.23s", 83*time.Second + 456*time.Millisecond: "1m23s", 5*time.Hour + 31*time.Second: "5h1m0s",
	} {
		assert.Equal(t, want, round(in).String())
	}
}

func TestNumbersForPersons(t *testing.T) {
	for in, want := range map[float64]string{0: "0", 0.5: "0.5", 2: "2", 1.0 / 3: "0.3333", 99.99: "99.99", 300: "300", 1234.56: "1235", 1e9: "1000000000"} {
		assert.Equal(t, want, amount(in))
	}
}

func TestCountsAreSorted(t *testing.T) {
	assert.Equal(t, "3 × b, 1 × a, 1 × c", counted(map[string]int{"a": 1, "b": 3, "c": 1}))
	assert.Empty(t, counted(map[batchfile.Reason]int{}))
}

func TestWhenToGoOn(t *testing.T) {
	assert.Equal(t, "enough", stopped(job.Stop{Text: "enough"}))
	assert.Contains(t, stopped(job.Stop{Text: "enough", Until: time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)}), "enough; go on after 2026-03-01 12:00:00")
}

// Declared limits say what the least time is; what was only worked out from refusals says nothing.
func TestTheLeastTime(t *testing.T) {
	virtual(t, func(t *testing.T) {
		d := newProgram(t, requests(120), calm()).send(t, "-rpm", "60")
		require.Equal(t, exitDone, d.code, d.stderr)
		assert.Contains(t, d.stderr, "least possible 1m0s; ratio 1.0")
		d = newProgram(t, requests(120), calm(throttletest.WithLimits(throttletest.SlidingLog(60, time.Minute)))).send(t)
		require.Equal(t, exitDone, d.code, d.stderr)
		assert.NotContains(t, d.stderr, "least possible")
	})
}

// The numbers of the summary are those of the output.
func TestTheSummaryAddsUp(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm(throttletest.WithFaults(throttletest.Statuses(200, 400, 500, 400, 429)))
		p := newProgram(t, requests(30)+"{broken\n"+`{"custom_id":"x","body":1}`+"\n", up)
		d := p.send(t, "-concurrency", "1", "-max-attempts", "1")
		assert.Equal(t, exitSomeFailed, d.code)
		assert.Contains(t, d.stderr, "requests  26 answered, 4 failed")
		assert.Contains(t, d.stderr, "rejected  2 lines: 1 × body_not_object, 1 × invalid_json")
		assert.Contains(t, d.stderr, "failed    2 × HTTP 400")
		assert.Contains(t, d.stderr, "30 HTTP requests sent, 1 × 429, 1 lost or 5xx")
		assert.Equal(t, 26, d.answered())
		assert.Len(t, d.byID(t), 31)
		assert.NotContains(t, d.stderr, "continue", "the job came to its end")
	})
}

func TestTheSummaryOfAPipeSaysThatItCannotGoOn(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := newProgram(t, requests(10), calm(after(0, throttletest.Fault{Status: 401})))
		d := p.start(t, "-i", p.input, "-url", apiHost)
		assert.Equal(t, exitStopped, d.code)
		assert.Contains(t, d.stderr, "use -o FILE")
	})
}

func TestTheCensusIsBounded(t *testing.T) {
	c := newCensus()
	var listed strings.Builder
	for i := range 3 * maxListed {
		listed.WriteString(c.reject(batchfile.Item{Line: i + 1, Reject: &batchfile.Reject{Reason: batchfile.InvalidJSON}}, "f"))
		c.request(&batchfile.Request{ID: "x", Model: strings.Repeat("m", i%2000)}, decision{send: true}, llm.Prompt{}, llm.Tokens{})
	}
	assert.Equal(t, maxListed+1, strings.Count(listed.String(), "\n"))
	assert.Contains(t, listed.String(), "further bad lines are only counted")
	assert.Equal(t, 3*maxListed, c.rejected)
	assert.LessOrEqual(t, len(c.models), maxModels+1)
}

func TestTheLoadOfAModel(t *testing.T) {
	l := &load{}
	l.add(llm.Prompt{MaxOutput: 100, Answers: 2}, llm.Tokens{Input: 10, Output: 20})
	l.add(llm.Prompt{}, llm.Tokens{Input: 10, Output: 20})
	assert.Equal(t, &load{requests: 2, prompt: 20, all: 10 + 200 + 10 + 20}, l)
}
