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
	Ahead       int           // requests read ahead of the one that is sent next, among which those of other models are found
	MaxAttempts int           // of one request; 0 = the client's own rule
	BodyTimeout time.Duration // for the body of an answer; 0 = none

	lost atomic.Int32 // requests in a row that got no answer in all their attempts
}

// lostWorkers and lostLeast say after how many requests in a row without any answer a job stops: twice as many as there are workers, and
// enough to be no accident. Going on would only turn the rest of the input into failures.
const lostWorkers, lostLeast = 2, 20

// Run works through the feed until its end or the stop of the brake, and returns when the last result is written.
func (j *Job) Run(feed Feed) {
	q := newQueue(j.Workers, j.Ahead)
	var workers sync.WaitGroup
	for range j.Workers {
		workers.Go(func() { j.work(q) })
	}
	finished := make(chan struct{})
	go j.wakeOnStop(q, finished)
	j.feed(feed, q)
	q.end()
	workers.Wait()
	close(finished)
	j.Tally.over(time.Now())
}

// wakeOnStop wakes whoever waits for tokens, for room or for a task, when the job is stopped.
func (j *Job) wakeOnStop(q *queue, finished <-chan struct{}) {
	select {
	case <-j.Brake.Pulled():
		j.Spend.close()
		q.stop()
	case <-finished:
	}
}

func (j *Job) work(q *queue) {
	for {
		t, ok := q.take()
		if !ok {
			return
		}
		q.done(t, j.do(q, t))
		if why, stuck := q.stuck(); stuck {
			j.Brake.Pull(why)
		}
	}
}

// feed reads the tasks in order, no faster than queue and sink take them.
func (j *Job) feed(feed Feed, q *queue) {
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
		if t.Request == nil {
			j.reject(t)
			continue
		}
		if !j.afford(t) {
			return
		}
		if !q.put(t) {
			j.letGo(t)
			return
		}
	}
}

// reject records a line of the input that is no request: before any line behind it, which may be a better one of the same id.
func (j *Job) reject(t *Task) {
	if j.put(t.n, t.Ready) {
		j.Tally.rejected()
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
	if j.Spend == nil {
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

// do sends one request and records its result; it is true if the request was under way to the last.
func (j *Job) do(q *queue, t *Task) (away bool) {
	if j.Brake.isPulled() {
		j.letGo(t)
		return false
	}
	j.Tally.begun()
	f := j.Brake.begin(func(away bool) { q.move(t.lane, away) })
	o := j.send(f, t)
	away = f.end()
	switch o.stop.Kind {
	case NotStopped:
	case Hold:
		q.hold(t.lane, o.stop)
	default:
		j.Brake.Pull(o.stop)
	}
	if o.line == nil {
		j.letGo(t)
		return away
	}
	j.noteLost(o)
	j.record(t, o)
	return away
}

// noteLost stops the job when the server seems to be gone.
func (j *Job) noteLost(o outcome) {
	if o.line.Response != nil {
		j.lost.Store(0)
		return
	}
	if o.line.Attempts > 0 && !o.cut && int(j.lost.Add(1)) >= max(lostLeast, lostWorkers*j.Workers) {
		j.Brake.Pull(Stop{Kind: Unreachable, Text: "request after request gets no usable answer: " + o.line.Error.Message})
	}
}

func (j *Job) record(t *Task, o outcome) {
	j.Spend.settle(t.reserve, j.charge(t, o))
	switch {
	case !j.put(t.n, o.line):
		j.Tally.unkept()
	case o.cut:
		j.Tally.cutOff()
	default:
		j.Tally.ended(time.Now(), o.cause, o.tokens)
	}
}

// charge is what a request has cost: what its answer says or, where it was sent and nothing tells, what it may have cost. Refusals cost nothing.
func (j *Job) charge(t *Task, o outcome) int64 {
	l := o.line
	refused := l.Response != nil && (l.Response.StatusCode >= 300 || l.Error != nil)
	if o.tokens.Total > 0 || l.Attempts == 0 || refused {
		return int64(o.tokens.Total)
	}
	if l.Estimated = t.reserve; l.Estimated == 0 {
		l.Estimated = j.most(t.Prompt)
	}
	return l.Estimated
}

// put hands a result over, or stops the job.
func (j *Job) put(n int, l *results.Line) bool {
	err := j.Sink.Put(n, l)
	if err != nil {
		j.Brake.Pull(Stop{Kind: NoOutput, Text: err.Error()})
	}
	return err == nil
}
