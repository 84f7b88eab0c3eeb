package main

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// dryRun tells what a run would send. Nothing was sent, nothing will be.
func (b *batch) dryRun() int {
	c, out := b.census, b.world.stderr
	l := &lines{}
	l.add("input", "%d lines of %v: %d requests, %d rejected", c.lines, c.format, c.requests, c.rejected)
	if c.rejected > 0 {
		l.add("rejected", "%s", counted(c.reasons))
	}
	if c.kept+c.failed+c.changed > 0 {
		l.add("earlier", "%d answered before, %d refused for good before, %d changed since", c.kept, c.failed, c.changed)
	}
	l.add("to send", "%d requests", c.toSend())
	for _, model := range slices.Sorted(maps.Keys(c.models)) {
		m := c.models[model]
		l.add("model", "%q: %d requests, %d to %d tokens (prompts alone to longest answers)%s",
			model, m.requests, m.prompt, m.all, b.timeFor(model, m))
	}
	fmt.Fprint(out, l)
	if c.rejected > 0 {
		return exitSomeFailed
	}
	return exitDone
}

// timeFor tells the least time for the requests of a model, if limits are given that tell it.
func (b *batch) timeFor(model string, m *load) string {
	if len(b.settings.policiesOf(model)) == 0 {
		return ""
	}
	return fmt.Sprintf(", at least %v by the given limits", round(b.leastFor(model, m)))
}

// leastFor is the least time for the requests of a model by its declared limits, with prompts alone.
func (b *batch) leastFor(model string, m *load) (least time.Duration) {
	for _, p := range b.settings.policiesOf(model) {
		p = p.Resolve()
		n := float64(m.requests)
		if p.Unit == budget.Tokens || p.Unit == budget.InputTokens {
			n = float64(m.prompt)
		}
		least = max(least, floor(n, p.Limit, p.Window))
	}
	return least
}
