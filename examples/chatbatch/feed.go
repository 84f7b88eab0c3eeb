package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/batchfile"
	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/job"
	"github.com/seed-18ca0a92/throttle/llm"
)

// feed turns the lines of the input into tasks, and counts them. It may be left in the middle of a read that never ends: see close.
type feed struct {
	mu     sync.Mutex // guards what follows, but never a read
	closed bool

	in      *batchfile.Reader
	name    string
	plan    plan
	census  *census
	rejects io.Writer       // where bad lines, and those that were changed, are named
	held    strings.Builder // their names, while the file may yet turn out to be no file of requests at all
	guess   *llm.Estimator
	first   *job.Task // that was looked at, and not yet handed out
	end     error     // seen when it was looked for
}

var _ job.Feed = (*feed)(nil)

// Next skips what needs no result. It returns io.EOF at the end.
func (f *feed) Next() (*job.Task, error) {
	if t := f.first; t != nil {
		f.first = nil
		return t, nil
	}
	if f.end != nil {
		return nil, f.end
	}
	for {
		item, err := f.in.Next()
		if t, err := f.count(item, err); t != nil || err != nil {
			return t, err
		}
	}
}

// count takes a line, or the end, into the census.
func (f *feed) count(item batchfile.Item, err error) (*job.Task, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, io.EOF
	}
	f.census.lines, f.census.format = f.in.Lines(), f.in.Format()
	f.tell()
	if err != nil {
		return nil, err
	}
	return f.task(item), nil
}

// close ends the counting, so that the census can be read though somebody may still wait for the next line.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
}

// tell names the bad lines, once there is a reason to believe that the file is one of requests. A table is refused in one sentence instead.
func (f *feed) tell() {
	if f.held.Len() > 0 && f.in.SawObject() {
		fmt.Fprint(f.rejects, f.held.String())
		f.held.Reset()
	}
}

func (f *feed) task(item batchfile.Item) *job.Task {
	if item.Reject != nil {
		return f.rejected(item)
	}
	req := item.Request
	f.census.place(req.ID, req.Line)
	d := f.plan.decide(req, f.in.Format())
	if d.changed {
		fmt.Fprint(f.rejects, f.census.change(req, f.name))
	}
	p := llm.Inspect(req.Body)
	p.Model = req.Model
	f.census.request(req, d, p, f.guess.Estimate(p))
	if !d.send {
		return nil
	}
	return &job.Task{Request: req, Prompt: p, Attempts: f.plan.earlier.AttemptsOf(req.ID), Tokens: f.plan.earlier.TokensOf(req.ID)}
}

func (f *feed) rejected(item batchfile.Item) *job.Task {
	f.held.WriteString(f.census.reject(item, f.name))
	if !f.plan.records(item.Reject) {
		return nil
	}
	f.census.place(item.Reject.ID, item.Line)
	return &job.Task{Ready: rejection(item, job.NewID())}
}

// peek reads as far as the first task. An input that is refused as a whole is so before it.
func (f *feed) peek() (err error) {
	if f.first, err = f.Next(); errors.Is(err, io.EOF) {
		f.end = err
		return nil
	}
	return err
}

// drain goes through everything that is left: a survey.
func (f *feed) drain() error {
	for {
		if _, err := f.Next(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// cloning hands out tasks that outlive their line, for work that goes on beside the reading.
type cloning struct{ *feed }

// Next is that of the feed.
func (c cloning) Next() (*job.Task, error) {
	t, err := c.feed.Next()
	if t != nil && t.Request != nil {
		t.Request = t.Request.Clone()
	}
	return t, err
}
