package main

import (
	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/batchfile"
	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/results"
)

// plan decides what of the input is sent, in the light of what an earlier run has done.
type plan struct {
	earlier     *results.Earlier
	retryFailed bool
}

// decision is what becomes of one line.
type decision struct {
	send    bool
	again   bool // the earlier result of that id makes way for the new one
	failed  bool // kept, and a lasting refusal
	changed bool // the earlier result was for another body
}

func (p plan) decide(req *batchfile.Request, format batchfile.Format) decision {
	verdict, known := p.earlier.Verdict(req.ID)
	if !known {
		return decision{send: true}
	}
	d := decision{changed: p.earlier.Changed(req.ID, req.Hash())}
	switch {
	case verdict == results.Undecided,
		verdict == results.Refused && p.retryFailed,
		d.changed && format == batchfile.Cookbook: // its ids are line numbers: this one names another request now
		d.send, d.again = true, true
	default:
		d.failed = verdict == results.Refused
	}
	return d
}

// records tells whether a rejected line gets a result line: it needs an id, that is not the id of another line, and for which nothing is known that lasts.
func (p plan) records(rej *batchfile.Reject) (write, again bool) {
	if rej.ID == "" || rej.Reason == batchfile.DuplicateCustomID {
		return false, false
	}
	verdict, known := p.earlier.Verdict(rej.ID)
	return !known || verdict == results.Undecided, known && verdict == results.Undecided
}

// rejection is the result line of a rejected line.
func rejection(item batchfile.Item, id string) *results.Line {
	return &results.Line{
		ID: id, CustomID: item.Reject.ID, InputLine: item.Line,
		Error: &results.Error{Code: string(item.Reject.Reason), Message: item.Reject.Error()},
	}
}
