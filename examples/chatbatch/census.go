package main

import (
	"fmt"

	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/batchfile"
	"github.com/seed-18ca0a92/throttle/llm"
)

const (
	// maxListed is how many bad lines, and how many changed ones, are named one by one: more would bury the rest of what is said.
	maxListed = 1000
	// maxID is how much of an id is shown, in letters, so that a long one does not fill the screen.
	maxID = 100
	// maxModels bounds what is kept per model; a file that names more has them counted together.
	maxModels = 1000
)

// load is what the requests of one model amount to.
type load struct {
	requests    int
	prompt, all int64 // tokens of the prompts, and with the longest answers
}

// census is what the lines of the input amount to. It is filled by one pass over them, ahead of the job or along with it.
type census struct {
	format   batchfile.Format
	lines    int
	requests int // good lines
	kept     int // of them, those with an answer already
	failed   int // of them, those with a lasting refusal
	changed  int // of them, those whose body is another now
	rejected int
	reasons  map[batchfile.Reason]int
	models   map[string]*load    // of what is to be sent
	unmet    map[string]bool     // models that a -limit names, and no good line so far
	order    *batchfile.IDs[int] // the line of each id, where results are to be put in order; else nil
}

func newCensus() *census {
	return &census{reasons: map[batchfile.Reason]int{}, models: map[string]*load{}}
}

func (c *census) toSend() int { return c.requests - c.kept - c.failed }

// reject counts a bad line, and returns the text that names it; empty once there are too many.
func (c *census) reject(item batchfile.Item, name string) string {
	c.rejected++
	c.reasons[item.Reject.Reason]++
	switch {
	case c.rejected <= maxListed:
		return fmt.Sprintf("%s:%d: %v\n", name, item.Line, item.Reject)
	case c.rejected == maxListed+1:
		return fmt.Sprintf("%s: further bad lines are only counted\n", name)
	}
	return ""
}

// change counts a line whose body is another than the one that was answered, and returns the text that names it, as above.
func (c *census) change(req *batchfile.Request, name string) string {
	c.changed++
	switch {
	case c.changed <= maxListed:
		return fmt.Sprintf("%s:%d: warning: the earlier result of %q is for another body\n", name, req.Line, cut(req.ID, maxID))
	case c.changed == maxListed+1:
		return fmt.Sprintf("%s: further changed lines are only counted\n", name)
	}
	return ""
}

// request counts a good line by what is decided for it.
func (c *census) request(req *batchfile.Request, d decision, p llm.Prompt, tokens llm.Tokens) {
	c.requests++
	delete(c.unmet, req.Model)
	switch {
	case d.failed:
		c.failed++
	case !d.send:
		c.kept++
	default:
		c.load(req.Model).add(p, tokens)
	}
}

func (c *census) load(model string) *load {
	if l := c.models[model]; l != nil {
		return l
	}
	if len(c.models) >= maxModels {
		model = "(further models)"
	}
	if c.models[model] == nil {
		c.models[model] = &load{}
	}
	return c.models[model]
}

func (l *load) add(p llm.Prompt, t llm.Tokens) {
	l.requests++
	l.prompt += int64(t.Input)
	l.all += int64(t.Input)
	if p.MaxOutput > 0 {
		l.all += int64(p.MaxOutput * max(1, p.Answers))
	} else {
		l.all += int64(t.Output)
	}
}

// place notes where in the input an id stands.
func (c *census) place(id string, line int) {
	if c.order != nil {
		c.order.Add(id, line)
	}
}

// rank is the order of the input for results; nil where they may stand as they came.
func (c *census) rank() func(id string) (int, bool) {
	if c.order == nil {
		return nil
	}
	return c.order.Get
}
