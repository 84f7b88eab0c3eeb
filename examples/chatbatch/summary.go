package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/job"
	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/report"
)

// summary tells the truth about the run on out.
func (b *batch) summary(out io.Writer) {
	l := &lines{}
	for _, f := range b.facts() {
		l.add(f.Name, "%s", f.Text)
	}
	fmt.Fprint(out, l)
}

// facts are the lines of the summary, most important things first.
func (b *batch) facts() []report.Fact {
	t, stop := b.tally.Totals(), b.brake.Stop()
	l := &facts{}
	l.add("requests", "%d answered, %d failed%s", t.Answered, t.Failed, unfinished(t, stop))
	b.addInput(l)
	for _, cause := range byCount(t.Causes) {
		l.add("failed", "%d × %s", t.Causes[cause], cause)
	}
	l.add("attempts", "%d HTTP requests sent, %d × 429, %d lost or 5xx", t.Requests, t.Refused, t.Faults)
	if n := time.Duration(t.Begun); n > 0 {
		l.add("waited", "%v for the own turn, %v held by the server, %v after failures (a request, on average)",
			round(t.Waited/n), round(t.Held/n), round(t.BackedOff/n))
	}
	if t.Tokens.Total > 0 {
		l.add("tokens", "%d in, %d out", t.Tokens.Input, t.Tokens.Output)
	}
	took := t.Ended.Sub(t.Began)
	l.add("time", "%v%s", round(took), b.compared(took))
	if t.Answered > 0 {
		l.add("rate", "%s", b.rates(t, took))
	}
	if stop.Kind != job.NotStopped {
		l.add("stopped", "%s", stopped(stop))
		l.add("continue", "%s", b.again())
	}
	for i := range *l {
		(*l)[i].Text = b.clean.Text((*l)[i].Text) // names and codes come from files and servers
	}
	return *l
}

// addInput tells what of the input was not sent, and why.
func (b *batch) addInput(l *facts) {
	c := b.census
	if c.kept+c.failed > 0 {
		l.add("earlier", "%d answered before, %d refused for good before (-retry-failed sends these again)", c.kept, c.failed)
	}
	if c.changed > 0 {
		l.add("warning", "%d requests are not the ones that were answered under the same id before", c.changed)
	}
	if n := b.plan.earlier.Unreadable; n > 0 {
		l.add("warning", "%d lines of %s are no results; they were left alone", n, b.settings.output)
	}
	if c.rejected > 0 {
		l.add("rejected", "%d lines: %s", c.rejected, counted(c.reasons))
	}
}

// facts collects them.
type facts []report.Fact

func (l *facts) add(name, format string, args ...any) {
	*l = append(*l, report.Fact{Name: name, Text: fmt.Sprintf(format, args...)})
}

// lines are the rows of a text for a person.
type lines struct{ text strings.Builder }

func (l *lines) add(name, format string, args ...any) {
	fmt.Fprintf(&l.text, "  %-9s %s\n", name, fmt.Sprintf(format, args...))
}

// String begins with the name of the program.
func (l *lines) String() string { return "chatbatch:\n" + l.text.String() }

// unfinished tells of the requests that were neither answered nor failed.
func unfinished(t job.Totals, stop job.Stop) (text string) {
	if t.CutOff > 0 {
		text += fmt.Sprintf(", %d sent and cut off by the stop", t.CutOff)
	}
	if t.Unkept > 0 {
		text += fmt.Sprintf(", %d more whose results could not be kept", t.Unkept)
	}
	if stop.Kind != job.NotStopped || t.Unsent > 0 {
		text += "; the rest not sent"
	}
	return text
}

func stopped(s job.Stop) string {
	if s.Until.IsZero() {
		return s.Text
	}
	return fmt.Sprintf("%s; go on after %s", s.Text, s.Until.Local().Format(time.DateTime))
}

// compared sets the time beside the least possible one, where that is known.
func (b *batch) compared(took time.Duration) string {
	least := b.least(b)
	if least <= 0 || b.brake.Stop().Kind != job.NotStopped {
		return ""
	}
	return fmt.Sprintf("; least possible %v; ratio %.3f", round(least), took.Seconds()/least.Seconds())
}

func (b *batch) rates(t job.Totals, took time.Duration) string {
	text := fmt.Sprintf("%s requests and %s tokens a minute", amount(perMinute(t.Answered, took)), amount(perMinute(t.Tokens.Total, took)))
	if n, over := b.tally.Recent(time.Now()); over < took {
		text += fmt.Sprintf("; %s requests in the last minute", amount(perMinute(n, over)))
	}
	return text
}

func perMinute(n int, over time.Duration) float64 { return float64(n) / max(over.Minutes(), 1e-9) }

// leastByLimits is the least time by the limits that hold at the end, declared or announced; zero where none is known.
func (b *batch) leastByLimits() (least time.Duration) {
	t := b.tally.Totals()
	states := b.client.transport.Snapshot()
	if len(states) != 1 {
		return 0
	}
	for _, s := range states[0].Budgets {
		done := 0
		switch {
		case s.Source == throttle.SourceAdaptive: // worked out from refusals: no limit that anybody has stated
		case s.Unit == budget.Requests:
			done = t.Answered
		case s.Unit == budget.Tokens:
			done = t.Tokens.Total
		}
		least = max(least, floor(float64(done), s.Limit, s.Window))
	}
	return least
}

// again is the command that goes on.
func (b *batch) again() string {
	if b.settings.output == "" {
		return "not possible: results went to standard output; use -o FILE for jobs that may have to be continued"
	}
	return "the same command again, without -overwrite; what is answered will not be paid for again"
}

// counted lists reasons, most frequent first.
func counted[K ~string](all map[K]int) string {
	var parts []string
	for _, k := range byCount(all) {
		parts = append(parts, fmt.Sprintf("%d × %s", all[k], k))
	}
	return strings.Join(parts, ", ")
}

func byCount[K ~string](all map[K]int) []K {
	return slices.SortedFunc(maps.Keys(all), func(x, y K) int {
		return cmp.Or(cmp.Compare(all[y], all[x]), cmp.Compare(x, y))
	})
}

// round keeps the digits that a person reads.
func round(d time.Duration) time.Duration {
	switch {
	case d > time.Hour:
		return d.Round(time.Minute)
	case d > time.Minute:
		return d.Round(time.Second)
	case d > time.Second:
		return d.Round(10 * time.Millisecond)
	}
	return d.Round(time.Millisecond)
}

// amount writes a number to four digits, or whole.
func amount(n float64) string {
	if n < 1000 {
		return strconv.FormatFloat(n, 'g', 4, 64)
	}
	return strconv.FormatFloat(n, 'f', 0, 64)
}
