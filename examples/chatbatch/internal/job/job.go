package job

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/results"
	"github.com/seed-18ca0a92/throttle/llm"
)

// Doer sends a request and waits for its answer, with all attempts and waits that this takes. It must use Traffic below.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// Job is a batch that can be run once. Client, Target, Sink, Tally, Brake, Estimator and Workers must be set.
type Job struct {
	Client    Doer
	Target    string      // the URL that every request goes to
	Header    http.Header // set in every request
	Clean     *Cleaner    // of what the server says; nil = there is no key to be hidden
	Sink      Sink
	Tally     *Tally
	Brake     *Brake
	Estimator *llm.Estimator // for Spend
	Spend     *Spend         // nil = no cap

	Workers     int           // calls at once, those that wait included
	MaxAttempts int           // of one request; 0 = the client's own rule
	BodyTimeout time.Duration // for the body of an answer; 0 = none

	lost atomic.Int32 // requests in a row that got no answer in all their attempts
}

// lostWorkers and lostLeast say after how many requests in a row without any answer a job stops: twice as many as there are workers, and
// enough to be no accident. Going on would only turn the rest of the input into failures.
const lostWorkers, lostLeast = 2, 20

// Run works through the feed until its end or the stop of the brake, and returns when the last result is written.
func (j *Job) Run(feed Feed) {
	tasks := make(chan *Task)
	var workers sync.WaitGroup
	for range j.Workers {
		workers.Go(func() {
			for t := range tasks {
				j.do(t)
			}
		})
	}
	finished := make(chan struct{})
	go j.closeSpendOnStop(finished)
	j.feed(feed, tasks)
	close(tasks)
	workers.Wait()
	close(finished)
}

// closeSpendOnStop wakes the feeder when it waits for tokens of a job that was stopped.
func (j *Job) closeSpendOnStop(finished <-chan struct{}) {
	select {
	case <-j.Brake.Pulled():
		j.Spend.close()
	case <-finished:
	}
}

// feed hands out the tasks in order, no faster than workers and sink take them.
func (j *Job) feed(feed Feed, tasks chan<- *Task) {
	ask, got := j.reader(feed)
	defer close(ask)
	for n := 0; ; n++ {
		if !j.Sink.Reserve(j.Brake.Pulled()) {
			return
		}
		ask <- struct{}{}
		t, ok := j.next(got)
		if !ok {
			return
		}
		t.n = n
		if !j.afford(t) {
			return
		}
		select {
		case tasks <- t:
		case <-j.Brake.Pulled():
			j.letGo(t)
			return
		}
	}
}

// given is what a feed gave.
type given struct {
	task *Task
	err  error
}

// reader asks the feed, once for each question, in a goroutine of its own: a pipe may have nothing to say for hours, and nobody must wait for it
// once the job is stopped.
func (j *Job) reader(feed Feed) (ask chan<- struct{}, got <-chan given) {
	questions, answers := make(chan struct{}, 1), make(chan given, 1)
	go func() {
		for range questions {
			t, err := feed.Next()
			answers <- given{t, err}
		}
	}()
	return questions, answers
}

// next waits for the feed's answer, or for the stop of the job.
func (j *Job) next(got <-chan given) (*Task, bool) {
	select {
	case g := <-got:
		if g.err != nil && !errors.Is(g.err, io.EOF) {
			j.Brake.Pull(Stop{Kind: NoInput, Text: fmt.Sprintf("the input cannot be read: %v", g.err), Err: g.err})
		}
		return g.task, g.err == nil
	case <-j.Brake.Pulled():
		return nil, false
	}
}

// afford sets the tokens aside that a task may cost, or stops the job.
func (j *Job) afford(t *Task) bool {
	if j.Spend == nil || t.Request == nil {
		return true
	}
	most := j.most(t.Prompt)
	if j.Spend.reserve(most) {
		t.reserve = most
		return true
	}
	j.letGo(t)
	j.Brake.Pull(Stop{Kind: Spent, Text: fmt.Sprintf("the next request may cost %d tokens, which would exceed the cap of %d", most, j.Spend.most)})
	return false
}

// most is what a request may cost: its own limit on the answer where it has one, else what answers were like so far.
func (j *Job) most(p llm.Prompt) int64 {
	t := j.Estimator.Estimate(p)
	if p.MaxOutput > 0 {
		t.Output = p.MaxOutput * max(1, p.Answers)
	}
	return int64(t.Input + t.Output)
}

// letGo drops a task that will not be sent by this run.
func (j *Job) letGo(t *Task) {
	j.Tally.unsent()
	j.Spend.settle(t.reserve, 0)
	_ = j.Sink.Put(t.n, nil) // a failed write has stopped the job already
}

// do sends one request and records its result.
func (j *Job) do(t *Task) {
	if t.Request == nil {
		if j.put(t.n, t.Ready) {
			j.Tally.rejected()
		}
		return
	}
	if j.Brake.isPulled() {
		j.letGo(t)
		return
	}
	f := j.Brake.begin()
	o := j.send(f, t)
	f.end()
	if o.stop.Kind != NotStopped {
		j.Brake.Pull(o.stop)
	}
	if o.line == nil {
		j.letGo(t)
		return
	}
	j.noteLost(o)
	j.record(t, o)
}

// noteLost stops the job when the server seems to be gone.
func (j *Job) noteLost(o outcome) {
	if o.line.Response != nil {
		j.lost.Store(0)
		return
	}
	if o.line.Attempts > 0 && int(j.lost.Add(1)) >= max(lostLeast, lostWorkers*j.Workers) {
		j.Brake.Pull(Stop{Kind: Unreachable, Text: "request after request gets no usable answer: " + o.line.Error.Message})
	}
}

func (j *Job) record(t *Task, o outcome) {
	j.Spend.settle(t.reserve, int64(o.tokens.Total))
	if !j.put(t.n, o.line) {
		j.Tally.unkept()
		return
	}
	j.Tally.ended(time.Now(), o.cause, o.tokens)
}

// put hands a result over, or stops the job.
func (j *Job) put(n int, l *results.Line) bool {
	err := j.Sink.Put(n, l)
	if err != nil {
		j.Brake.Pull(Stop{Kind: NoOutput, Text: err.Error()})
	}
	return err == nil
}
