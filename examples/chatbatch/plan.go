package main

import (
	"bytes"

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
		d.send = true
	default:
		d.failed = verdict == results.Refused
	}
	return d
}

// records tells whether a rejected line gets a result line: it needs an id, that no line before it has, and for which nothing is known that lasts.
func (p plan) records(rej *batchfile.Reject) bool {
	if rej.ID == "" || rej.FirstLine > 0 {
		return false
	}
	verdict, _ := p.earlier.Verdict(rej.ID)
	return verdict == results.Undecided
}

// rejection is the result line of a rejected line.
func rejection(item batchfile.Item, id string) *results.Line {
	return &results.Line{
		ID: id, CustomID: item.Reject.ID, InputLine: item.Line, Metadata: bytes.Clone(item.Reject.Metadata),
		Error: &results.Error{Code: string(item.Reject.Reason), Message: item.Reject.Error()},
	}
}
