package job

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/backoff"
	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/results"
	"github.com/seed-18ca0a92/throttle/llm"
)

// maxAnswer bounds an answer, in bytes: far above any completion, and a server that never ends must not fill the memory.
const maxAnswer = 64 << 20

var errTooLarge = fmt.Errorf("the answer is above %d bytes", maxAnswer)

// outcome is how a request ended.
type outcome struct {
	line   *results.Line // nil: it was never sent, since the job was stopped; there is nothing to record
	cut    bool          // it was sent, and a stop ended it
	cause  string        // of a failure
	tokens llm.Tokens
	stop   Stop // what the answer means for the whole job
}

// reply is what came back for one call of the client.
type reply struct {
	result throttle.Result
	resp   *http.Response
	body   []byte
	err    error
	cut    bool // the body did not come whole: the answer was lost on its way
}

// send makes the call, again where an answer broke off on its way, and says how it ended.
func (j *Job) send(f *flight, t *Task) outcome {
	line := &results.Line{
		ID: NewID(), CustomID: t.Request.ID, InputLine: t.Request.Line, Model: t.Request.Model, Earlier: t.Attempts, Spent: t.Tokens,
		BodyHash: t.Request.Hash(), Metadata: t.Request.Metadata,
	}
	var r reply
	for {
		r = j.call(f, t, line.Attempts)
		j.Tally.waited(time.Now(), r.result)
		note(line, f, r.result)
		if !r.cut || !j.again(f, line) {
			break
		}
	}
	if n, sent := f.sends(); n > 0 {
		line.SentAt = &sent
		line.TookMS = time.Since(sent).Milliseconds()
	}
	return j.judge(f, line, r)
}

// again waits before an answer that broke off is asked for once more, if there are attempts left.
func (j *Job) again(f *flight, line *results.Line) bool {
	if line.Attempts >= j.cutAttempts() {
		return false
	}
	pause := backoff.Policy{}.Delay(line.Attempts)
	f.turnBack()
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		line.BackedOffMS += pause.Milliseconds()
		return true
	case <-f.ctx.Done():
		return false
	}
}

// defaultCutAttempts is the client's own rule for failures, which broken answers are.
const defaultCutAttempts = 4

func (j *Job) cutAttempts() int {
	if j.MaxAttempts > 0 {
		return j.MaxAttempts
	}
	return defaultCutAttempts
}

func note(line *results.Line, f *flight, r throttle.Result) {
	line.Attempts, _ = f.sends()
	line.WaitedMS += r.Waited.Milliseconds()
	line.HeldMS += r.Held.Milliseconds()
	line.BackedOffMS += r.BackedOff.Milliseconds()
}

// call asks the client once, which makes as many attempts as are left.
func (j *Job) call(f *flight, t *Task, made int) (r reply) {
	c := throttle.Call{Result: &r.result}
	if j.MaxAttempts > 0 {
		c.MaxAttempts = j.MaxAttempts - made
	} else if made > 0 {
		c.MaxAttempts = defaultCutAttempts - made
	}
	ctx, cancel := context.WithCancelCause(llm.NewContext(throttle.NewContext(f.ctx, c), t.Prompt))
	defer cancel(nil)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, j.Target, bytes.NewReader(t.Request.Body))
	if err != nil {
		r.err = err
		return r
	}
	for name, values := range j.Header {
		req.Header[name] = values
	}
	began := time.Now()
	r.resp, r.err = j.Client.Do(req)
	r.result.BackedOff = min(r.result.BackedOff, time.Since(began)) // a pause that a stop cut short was told whole
	if r.err != nil {
		r.err = bare(r.err)
		return r
	}
	r.body, err = j.readBody(ctx, r.resp.Body, cancel)
	r.body = j.Clean.Body(r.body, r.resp.StatusCode)
	if err == nil && len(r.body) > maxAnswer {
		err = errTooLarge // it has grown by what stands for bytes that were no UTF-8
	}
	if err != nil {
		r.cut, r.err = !errors.Is(err, errTooLarge), fmt.Errorf("the answer (status %d) broke off after %d bytes: %w", r.resp.StatusCode, len(r.body), err)
	}
	return r
}

// readBody reads an answer to its end, within the time for it.
func (j *Job) readBody(ctx context.Context, body io.ReadCloser, cancel context.CancelCauseFunc) ([]byte, error) {
	defer body.Close()
	late := fmt.Errorf("its body took longer than %v: %w", j.BodyTimeout, context.DeadlineExceeded)
	if j.BodyTimeout > 0 {
		timer := time.AfterFunc(j.BodyTimeout, func() { cancel(late) })
		defer timer.Stop()
	}
	b, err := io.ReadAll(io.LimitReader(body, maxAnswer+1))
	if len(b) > maxAnswer {
		return b[:maxAnswer], errTooLarge
	}
	if err != nil && context.Cause(ctx) == late {
		err = late // the base may only know that the context has ended
	}
	return b, err
}

// bare takes the URL off an error: its query may hold a secret, and every line has the same one.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
