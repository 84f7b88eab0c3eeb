package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

func TestAStatusIsOneLine(t *testing.T) {
	for _, c := range []struct {
		s    status
		want string
	}{
		{status{}, "0 done, 0/s"},
		{status{ended: 3, rate: 1.5}, "3 done, 1.5/s"},
		{status{ended: 250, most: 1000, rate: 50}, "250 of 1000 done, 50/s, about 15s left"},
		{status{ended: 10, most: 10, failed: 2, rate: 5}, "10 of 10 done (2 failed), 5/s"},
		{status{ended: 1, most: 2, why: "held for 5s more, as the server asked"}, "1 of 2 done, 0/s; held for 5s more, as the server asked"},
	} {
		assert.Equal(t, c.want, c.s.String())
	}
}

func TestWhyCallsWait(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	minute := throttle.BudgetState{Unit: "requests", Limit: 500, Window: time.Minute, Available: 400, Source: throttle.SourceDeclared}
	tokens := throttle.BudgetState{Unit: "tokens", Limit: 9000, Window: time.Minute, Available: 10, Source: throttle.SourceServer}
	for _, c := range []struct {
		name   string
		states []throttle.KeyState
		want   string
	}{
		{"nobody", []throttle.KeyState{{Budgets: []throttle.BudgetState{minute}}}, ""},
		{"no key yet", nil, ""},
		{"the tightest", []throttle.KeyState{{Waiting: 7, Budgets: []throttle.BudgetState{minute, tokens}}}, "7 wait for tokens (limit 9000 per 1m0s, server)"},
		{"the first answer", []throttle.KeyState{{Waiting: 7}}, "7 wait for the first answers"},
		{"a hold", []throttle.KeyState{{Waiting: 7, Hold: now.Add(42 * time.Second), Budgets: []throttle.BudgetState{tokens}}}, "held for 42s more, as the server asked"},
		{"a hold that is over", []throttle.KeyState{{Waiting: 1, Hold: now.Add(-time.Second)}}, "1 wait for the first answers"},
		{"the longest queue", []throttle.KeyState{{Waiting: 2}, {Waiting: 9, Budgets: []throttle.BudgetState{minute}}}, "9 wait for requests (limit 500 per 1m0s, declared)"},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, waitingFor(now, c.states)) })
	}
}

func TestTheLimitOfAllKeys(t *testing.T) {
	budgets := []throttle.BudgetState{
		{Unit: "requests", Limit: 600, Window: time.Minute}, {Unit: "requests", Limit: 20, Window: time.Second}, {Unit: "tokens", Limit: 1, Window: time.Second}, {Unit: "requests", Limit: 5},
	}
	assert.InDelta(t, 20, requestLimit([]throttle.KeyState{{Budgets: budgets}, {Budgets: budgets}, {}}), 1e-9)
	assert.Zero(t, requestLimit(nil))
	assert.InDelta(t, 7, (&batch{known: 7}).limit(nil), 0)
}

// A hold of half an hour is explained, but not over and over.
func TestALongWaitIsToldNowAndThen(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm(throttletest.WithFaults(func(n int, _ *httpRequest) *throttletest.Fault {
			if n != 3 {
				return nil
			}
			return &throttletest.Fault{Status: 429, Header: map[string][]string{"Retry-After": {"1800"}}}
		}))
		d := newProgram(t, requests(20), up).send(t, "-concurrency", "2")
		assert.Equal(t, exitDone, d.code, d.stderr)
		told := strings.Count(d.stderr, "more, as the server asked")
		assert.GreaterOrEqual(t, told, 25)
		assert.LessOrEqual(t, told, 31)
	})
}

// The speed is that of the last minute: a slow beginning does not spoil the outlook for ever.
func TestTheOutlookFollowsAChangeOfSpeed(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm(throttletest.WithFaults(func(n int, _ *httpRequest) *throttletest.Fault {
			if n > 20 {
				return nil
			}
			return &throttletest.Fault{Delay: 30 * time.Second}
		}))
		d := newProgram(t, requests(4000), up).send(t, "-concurrency", "1")
		require.Equal(t, exitDone, d.code)
		assert.Contains(t, d.stderr, "h", "hours, at the speed of the beginning")
		assert.Regexp(t, `^about \d+s left`, lastStatus(d.stderr))
	})
}

func lastStatus(stderr string) (last string) {
	for line := range strings.Lines(stderr) {
		if strings.Contains(line, " left") {
			last = line[strings.Index(line, "about"):]
		}
	}
	return last
}

func TestCut(t *testing.T) {
	assert.Equal(t, "short", cut("short", 10))
	assert.Equal(t, "exact", cut("exact", 5))
	assert.Equal(t, "größ…", cut("größer", 5))
	assert.Equal(t, "…", cut("abc", -7))
	assert.Equal(t, usualColumns, columns(&strings.Builder{}))
	assert.Nil(t, terminal(&locked{w: &strings.Builder{}}))
}
