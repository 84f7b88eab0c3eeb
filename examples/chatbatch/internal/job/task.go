package job

import (
	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/batchfile"
	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/results"
	"github.com/seed-18ca0a92/throttle/llm"
)

// Task is one line of the input that needs a result: a request to send, or a rejection to record.
type Task struct {
	Request  *batchfile.Request // nil for a rejection
	Prompt   llm.Prompt         // of the request
	Attempts int                // that earlier runs made for it
	Tokens   int64              // charged for it in earlier runs
	Ready    *results.Line      // the result of a rejection

	n       int   // its place in the job, from 0
	reserve int64 // tokens set aside for it
	lane    *lane // where it waits
}

// Feed hands out the work of a job, from one goroutine. It returns io.EOF at the end.
type Feed interface {
	Next() (*Task, error)
}

// Sink takes results. Reserve comes before each task, in order; it is false when done is closed first. Put comes once for each of them, in any order and from
// any goroutine; a nil line says that there is no result.
type Sink interface {
	Reserve(done <-chan struct{}) bool
	Put(n int, l *results.Line) error
}
