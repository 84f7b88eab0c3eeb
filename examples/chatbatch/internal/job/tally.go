package job

import (
	"net/http"
	"sync"
	"time"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/llm"
)

// maxCauses bounds how many kinds of failures are told apart; a server that makes every message new must not fill the memory.
const maxCauses = 100

// Totals is what happened so far.
type Totals struct {
	Began    time.Time
	Ended    time.Time      // of the job; now while it goes on
	Begun    int            // requests that a worker began with: those whose waits were added up
	Answered int            // requests with a 2xx answer
	Failed   int            // requests without one
	Rejected int            // lines that were no requests and got a result line that says so
	CutOff   int            // requests that were sent, and ended by the stop of the job before their answer was there
	Unsent   int            // requests let go because the job was stopped
	Unkept   int            // results that could not be written: their requests were sent for nothing
	Causes   map[string]int // of the failures

	Requests int // HTTP requests sent, all attempts counted
	Refused  int // 429 among their answers
	Faults   int // 5xx answers and lost connections

	Waited, Held, BackedOff time.Duration // added up over all requests
	Tokens                  llm.Tokens    // as the answers said
}

// Tally counts. Safe for concurrent use.
type Tally struct {
	mu     sync.Mutex
	totals Totals
	recent window
	series *Series
}

// NewTally begins to count.
func NewTally() *Tally {
	now := time.Now()
	return &Tally{totals: Totals{Began: now, Causes: map[string]int{}}, series: newSeries(now)}
}

// Totals is a copy of what was counted so far.
func (t *Tally) Totals() Totals {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.totals
	if c.Ended.IsZero() {
		c.Ended = time.Now()
	}
	c.Causes = make(map[string]int, len(t.totals.Causes))
	for cause, n := range t.totals.Causes {
		c.Causes[cause] = n
	}
	return c
}

// Series is what happened over time.
func (t *Tally) Series() []Point {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.series.points()
}

// Recent is how many requests ended within the last minute, or since the beginning, and over how long that is.
func (t *Tally) Recent(now time.Time) (n int, over time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.recent.count(now), min(now.Sub(t.totals.Began), recentSpan)
}

// Limit notes what may be sent at present, in requests a second.
func (t *Tally) Limit(now time.Time, perSecond float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.series.at(now).Limit = perSecond
}

func (t *Tally) sent(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.totals.Requests++
	t.series.at(now).Sent++
}

func (t *Tally) answered(now time.Time, status int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case status == http.StatusTooManyRequests:
		t.totals.Refused++
		t.series.at(now).Refused++
	case status == 0, status >= 500:
		t.totals.Faults++
		t.series.at(now).Faults++
	}
}

func (t *Tally) begun() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.totals.Begun++
}

// waited adds the waits of one call.
func (t *Tally) waited(now time.Time, r throttle.Result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.totals.Waited += r.Waited
	t.totals.Held += r.Held
	t.totals.BackedOff += r.BackedOff
	p := t.series.at(now)
	p.Waited += r.Waited
	p.Held += r.Held
	p.BackedOff += r.BackedOff
}

// ended counts a request by how it ended; an empty cause is an answer.
func (t *Tally) ended(now time.Time, cause string, tokens llm.Tokens) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.totals.Tokens.Input += tokens.Input
	t.totals.Tokens.Output += tokens.Output
	t.totals.Tokens.Total += tokens.Total
	t.recent.add(now)
	if cause == "" {
		t.totals.Answered++
		return
	}
	t.totals.Failed++
	if _, known := t.totals.Causes[cause]; !known && len(t.totals.Causes) >= maxCauses {
		cause = "other"
	}
	t.totals.Causes[cause]++
}

// refusesAccount tells the answers that are about the key or the account. A 403 is one only as long as nothing was answered: after that it
// is about its request.
func (t *Tally) refusesAccount(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusProxyAuthRequired:
		return true
	case http.StatusForbidden:
		return t.answeredNone()
	}
	return false
}

func (t *Tally) answeredNone() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.totals.Answered == 0
}

func (t *Tally) rejected() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.totals.Rejected++
}

func (t *Tally) cutOff() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.totals.CutOff++
}

// over notes the end of the job.
func (t *Tally) over(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.totals.Ended = now
}

func (t *Tally) unkept() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.totals.Unkept++
}

func (t *Tally) unsent() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.totals.Unsent++
}
