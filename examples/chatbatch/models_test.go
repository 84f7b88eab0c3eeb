package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-18ca0a92/throttle/throttletest"
)

// of writes n lines of a model.
func of(model string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"custom_id":"%s-%d","body":{"model":"%s","messages":[],"max_tokens":5}}`+"\n", model, i, model)
	}
	return b.String()
}

// lastSent is when the last request of a model left, after the first of all.
func lastSent(d done, model string) (latest time.Duration) {
	var began time.Time
	for _, r := range d.out {
		if r.Attempts > 0 && (began.IsZero() || r.SentAt.Before(began)) {
			began = r.SentAt
		}
	}
	for _, r := range d.out {
		if strings.HasPrefix(r.CustomID, model+"-") {
			latest = max(latest, r.SentAt.Sub(began))
		}
	}
	return latest
}

// A model that waits for its limit, or was told to wait, does not hold up the one behind it, which has limits of its own.
func TestAModelThatWaitsHoldsUpNoOther(t *testing.T) {
	refuseA := byText(map[string]throttletest.Fault{`"A"`: {Status: 429, Header: http.Header{"Retry-After": {"60"}}}})
	for name, c := range map[string]struct {
		up   *throttletest.Upstream
		args []string
	}{
		"by its limit":  {calm(), []string{"-limit", "A=5/minute"}},
		"by the server": {calm(refuseA), []string{"-max-attempts", "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				d := newProgram(t, of("A", 100)+of("B", 100)+of("C", 10), c.up).send(t, append(c.args, "-concurrency", "8", "-max-wait", "3h")...)
				assert.Less(t, lastSent(d, "B"), 8*time.Second)
				assert.Less(t, lastSent(d, "C"), 8*time.Second)
				assert.Greater(t, lastSent(d, "A"), time.Minute)
				assert.GreaterOrEqual(t, d.answered(), 110, "all of B and C")
			})
		})
	}
}

// What one model has used up for the day stops the job only when no other can go on.
func TestADayThatIsOverForOneModel(t *testing.T) {
	virtual(t, func(t *testing.T) {
		d := newProgram(t, of("A", 30)+of("B", 15), calm()).send(t, "-rpd", "20", "-concurrency", "4")
		assert.Equal(t, exitStopped, d.code)
		assert.Contains(t, d.stderr, "go on after")
		n := map[string]int{}
		for _, r := range d.out {
			n[r.CustomID[:1]]++
		}
		assert.Equal(t, map[string]int{"A": 20, "B": 15}, n)
	})
}

// However many models there are, no more requests are under way than allowed.
func TestTheWorkersAreSharedByTheModels(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var in strings.Builder
		for i := range 30 {
			in.WriteString(of(fmt.Sprintf("model%02d", i), 10))
		}
		up := calm()
		d := newProgram(t, in.String(), up).send(t, "-concurrency", "7", "-rpm", "6000")
		assert.Equal(t, exitDone, d.code, d.stderr)
		assert.LessOrEqual(t, up.Stats().PeakOpen, 7)
		assert.Len(t, d.byID(t), 300)
	})
}
