package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/budget"
)

const (
	// tick is how often the state is looked at.
	tick = 250 * time.Millisecond
	// plainEvery is how often a line is written where no bar can be shown: often enough to see life, rare enough for a log. demoEvery is for
	// somebody who watches.
	plainEvery, demoEvery = 10 * time.Second, 2 * time.Second
	// idleEvery is the same while nothing ends: a long wait is told, but not over and over.
	idleEvery = time.Minute
	// barWidth is that of the bar itself, barFrame of the percentage and blanks around it, in columns.
	barWidth, barFrame = 16, 12
)

// progress shows how far a job is, and why it waits.
type progress struct {
	batch *batch
	bar   *progressbar.ProgressBar // nil: plain lines
	every time.Duration            // between plain lines
	last  time.Time                // of the plain lines
	shown int                      // what ended until then
	done  chan struct{}
	ended chan struct{}
}

// newProgress begins to show the progress of b, unless it is to be quiet; it follows the limits in any case, for the report.
func (b *batch) newProgress() *progress {
	p := &progress{batch: b, every: plainEvery, last: time.Now(), done: make(chan struct{}), ended: make(chan struct{})}
	if !b.settings.quiet && terminal(b.world.stderr) != nil {
		p.bar = newBar(b)
	}
	if b.settings.isDemo {
		p.every = demoEvery
	}
	go p.follow()
	return p
}

func newBar(b *batch) *progressbar.ProgressBar {
	most := int64(-1) // unknown: the bar becomes a spinner
	if b.in.whole() {
		most = int64(b.census.toSend())
	}
	return progressbar.NewOptions64(most,
		progressbar.OptionSetWriter(b.world.stderr), progressbar.OptionSetWidth(barWidth), progressbar.OptionShowDescriptionAtLineEnd(),
		progressbar.OptionSetPredictTime(false), progressbar.OptionClearOnFinish(), progressbar.OptionUseANSICodes(true))
}

func (p *progress) follow() {
	defer close(p.ended)
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			p.look(now)
		case <-p.done:
			return
		}
	}
}

// end takes the bar away.
func (p *progress) end() {
	close(p.done)
	<-p.ended
	if p.bar != nil {
		_ = p.bar.Clear() // as above
	}
}

func (p *progress) look(now time.Time) {
	states := p.batch.client.transport.Snapshot()
	p.batch.tally.Limit(now, p.batch.limit(states))
	p.batch.stopIfStalled(now, states)
	if p.batch.settings.quiet {
		return
	}
	s := p.status(now, states)
	switch {
	case p.bar != nil:
		p.bar.Describe(cut(s.String(), columns(p.batch.world.stderr)-barWidth-barFrame))
		_ = p.bar.Set(s.ended) // a terminal that is gone needs no bar
	case now.Sub(p.last) >= p.every && (s.ended > p.shown || now.Sub(p.last) >= idleEvery):
		p.last, p.shown = now, s.ended
		fmt.Fprintf(p.batch.world.stderr, "chatbatch: %s\n", s)
	}
}

// status is what there is to say at one moment.
type status struct {
	ended, most int // most = 0: unknown
	failed      int
	rate        float64 // a second, over the last minute
	why         string
}

func (p *progress) status(now time.Time, states []throttle.KeyState) status {
	t := p.batch.tally.Totals()
	s := status{ended: t.Answered + t.Failed, failed: t.Failed, why: p.batch.clean.Text(waitingFor(now, states))}
	if p.batch.in.whole() {
		s.most = p.batch.census.toSend()
	}
	if n, over := p.batch.tally.Recent(now); over > 0 {
		s.rate = float64(n) / over.Seconds()
	}
	return s
}

// String is one line.
func (s status) String() string {
	text := fmt.Sprintf("%d done", s.ended)
	if s.most > 0 {
		text = fmt.Sprintf("%d of %d done", s.ended, s.most)
	}
	if s.failed > 0 {
		text += fmt.Sprintf(" (%d failed)", s.failed)
	}
	text += fmt.Sprintf(", %.3g/s", s.rate)
	if s.rate > 0 && s.most > s.ended {
		left := time.Duration(float64(s.most-s.ended) / s.rate * float64(time.Second))
		text += fmt.Sprintf(", about %v left", round(max(left, time.Second)).Round(time.Second))
	}
	if s.why != "" {
		text += "; " + s.why
	}
	return text
}

// waitingFor says why calls do not go out, by the key for which most of them wait.
func waitingFor(now time.Time, states []throttle.KeyState) string {
	var worst throttle.KeyState
	for _, s := range states {
		if s.Waiting > worst.Waiting {
			worst = s
		}
	}
	if worst.Waiting == 0 {
		return ""
	}
	if left := worst.Hold.Sub(now); left > 0 {
		return fmt.Sprintf("held for %v more, as the server asked", round(left))
	}
	if b, ok := tightest(worst.Budgets); ok {
		return fmt.Sprintf("%d wait for %s (%s)", worst.Waiting, b.Unit, limitText(b))
	}
	return fmt.Sprintf("%d wait for the first answers", worst.Waiting)
}

// limitText is a limit and who says so.
func limitText(b throttle.BudgetState) string {
	if b.Window == 0 {
		return fmt.Sprintf("limit %s, %v", amount(b.Limit), b.Source)
	}
	return fmt.Sprintf("limit %s per %v, %v", amount(b.Limit), round(b.Window), b.Source)
}

// tightest is the budget that has the smallest part of its limit left.
func tightest(all []throttle.BudgetState) (least throttle.BudgetState, ok bool) {
	for _, b := range all {
		if b.Limit > 0 && (!ok || b.Available/b.Limit < least.Available/least.Limit) {
			least, ok = b, true
		}
	}
	return least, ok
}

// limit is how many requests a second may be sent, as far as anybody says.
func (b *batch) limit(states []throttle.KeyState) float64 {
	if b.known > 0 {
		return b.known
	}
	return requestLimit(states)
}

// requestLimit is how many requests a second all keys together may send; 0 = unknown.
func requestLimit(states []throttle.KeyState) (perSecond float64) {
	for _, s := range states {
		least := 0.0
		for _, b := range s.Budgets {
			if rate := b.Limit / b.Window.Seconds(); b.Unit == budget.Requests && b.Limit > 0 && b.Window > 0 && (least == 0 || rate < least) {
				least = rate
			}
		}
		perSecond += least
	}
	return perSecond
}
