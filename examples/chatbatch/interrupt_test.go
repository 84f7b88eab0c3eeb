package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-18ca0a92/throttle/throttletest"
)

// The first signal lets the requests under way end, the second does not.
func TestInterrupt(t *testing.T) {
	slow := throttletest.WithLatency(throttletest.Latency{Service: throttletest.Constant(10 * time.Second)})
	virtual(t, func(t *testing.T) {
		up := throttletest.NewUpstream(slow)
		p := newProgram(t, requests(100), up)
		time.AfterFunc(5*time.Second+10*time.Second, func() { p.interrupts <- os.Interrupt })
		d := p.send(t, "-concurrency", "8")
		assert.Equal(t, exitInterrupted, d.code)
		assert.Equal(t, up.Stats().Arrivals, d.answered(), "what was under way was paid for, so it is kept")
		assert.Equal(t, 24*time.Second, d.took.Round(time.Second), "the first call is waited for two seconds, then the others leave; of the next eight the last leaves at 14 s")
		assert.Contains(t, d.stderr, "once more to stop at once")
		assert.Contains(t, d.stderr, "the same command again")
	})
	virtual(t, func(t *testing.T) {
		up := throttletest.NewUpstream(slow)
		p := newProgram(t, requests(100), up)
		time.AfterFunc(15*time.Second, func() { p.interrupts <- os.Interrupt })
		time.AfterFunc(16*time.Second, func() { p.interrupts <- os.Interrupt })
		d := p.send(t, "-concurrency", "8")
		assert.Equal(t, exitInterrupted, d.code)
		assert.Equal(t, 16*time.Second, d.took.Round(time.Second))
		assert.Equal(t, 8, d.answered())
		up2 := calm()
		p.up = up2
		d = p.send(t)
		assert.Equal(t, exitDone, d.code)
		assert.Len(t, d.byID(t), 100)
		assert.Equal(t, 92, up2.Stats().Arrivals)
	})
}

// Requests that only wait for their turn are let go at once; the grace is for those under way.
func TestInterruptWhileEverybodyWaits(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm()
		p := newProgram(t, requests(100), up)
		time.AfterFunc(30*time.Second, func() { p.interrupts <- os.Interrupt })
		d := p.send(t, "-rpm", "10")
		assert.Equal(t, exitInterrupted, d.code)
		assert.Equal(t, 30*time.Second, d.took.Round(time.Second))
		assert.Equal(t, 10, d.answered())
		assert.Len(t, d.out, 10, "a request that was never sent has no result")
	})
}

func TestTheGraceEnds(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := throttletest.NewUpstream(throttletest.WithLatency(throttletest.Latency{Service: throttletest.Constant(5 * time.Minute)}))
		p := newProgram(t, requests(10), up)
		time.AfterFunc(10*time.Second, func() { p.interrupts <- os.Interrupt })
		d := p.send(t, "-grace", "20s")
		assert.Equal(t, exitInterrupted, d.code)
		assert.Equal(t, 30*time.Second, d.took.Round(time.Second))
		assert.Len(t, d.out, 10, "what was sent is told, and counts for the day's limit")
		for _, r := range d.out {
			assert.Equal(t, "cancelled", r.Error.Code)
			assert.Equal(t, 1, r.Attempts)
			assert.Nil(t, r.Response)
		}
		assert.Contains(t, d.stderr, "0 answered, 0 failed, 10 sent and cut off by the stop; the rest not sent")
	})
}

func TestTheEndOfTheContextIsAnInterrupt(t *testing.T) {
	virtual(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		p := newProgram(t, requests(100), calm())
		var out bytes.Buffer
		code := run(ctx, []string{"-i", p.input, "-url", apiHost, "-o", p.output(), "-rpm", "10", "-key-env", ""},
			world{env: func(string) string { return "" }, stdin: strings.NewReader(""), stdout: &out, stderr: &out, network: p.up})
		assert.Equal(t, exitInterrupted, code)
	})
}
