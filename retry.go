package throttle

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// repeats decides whether another attempt follows, and prepares for it. Otherwise result.Stop says why not.
func (x *exchange) repeats(o *outcome) bool {
	x.result.Stop = x.stop(o)
	if x.result.Stop != Finished || o.kind == final {
		return false
	}
	if o.resp != nil {
		o.keep()
		x.resp = nil
		x.release()
		x.lane.leave(&x.ticket)
	}
	o.pause = max(o.pause-time.Since(x.received), 0) // reading the answer has taken part of it
	x.emit(Event{Kind: KindRetry, Cause: o.causeOfPause(), Attempt: x.result.Attempts, Status: o.status(), Duration: o.pause, Err: o.err})
	return true
}

// causeOfPause is why the next attempt does not follow at once.
func (o *outcome) causeOfPause() Cause {
	if o.kind == refused && o.pause == 0 {
		return CauseHold // the time that the server named is waited for in the lane
	}
	return CauseBackoff
}

// stop is why there is no further attempt after o; Finished = there is, unless o is final.
func (x *exchange) stop(o *outcome) Stop {
	switch {
	case o.kind == final:
		return Finished
	case o.kind == hopeless:
		return HopelessRefusal
	case x.nested || x.result.Attempts >= x.attemptsAllowed(o.kind):
		return AttemptsSpent
	case o.kind == failed && !o.safe && !x.idempotent():
		return NotIdempotent
	case !x.replayable():
		return BodyNotReplayable
	case o.kind == refused:
		return x.stopWaiting(o)
	}
	return x.stopFailing(o)
}

// attemptsAllowed is how many attempts a call may have that ends like this.
func (x *exchange) attemptsAllowed(k outcomeKind) int {
	if x.call.MaxAttempts > 0 {
		return x.call.MaxAttempts
	}
	if k == refused {
		return x.t.cfg.refusals
	}
	return x.t.cfg.failures
}

// stopWaiting asks the lane whether the wait that a refusal brought can be borne. Where no time was named, or next to none, the call itself
// steps back before it waits its turn again.
func (x *exchange) stopWaiting(o *outcome) Stop {
	x.allow()
	step := 1
	if o.asked == 0 {
		step = x.result.Attempts
	}
	if pause := x.t.cfg.stepBack.Delay(step); o.asked < pause {
		o.pause = pause
		if why := x.stopPausing(o.pause); why != Finished {
			return why
		}
	}
	if err := x.lane.ask(&x.w); err != nil {
		return stopOf(err, Finished)
	}
	return Finished
}

// stopFailing picks the backoff, and draws on the retry budget.
func (x *exchange) stopFailing(o *outcome) Stop {
	x.allow()
	o.pause = max(x.t.cfg.backoff.Delay(x.result.Attempts), o.asked)
	if o.asked > x.t.cfg.maxHold {
		return HoldTooLong
	}
	if why := x.stopPausing(o.pause); why != Finished {
		return why
	}
	if !x.lane.mayRetry() {
		return RetryBudgetSpent
	}
	return Finished
}

// stopPausing is why the call cannot pause for so long; Finished = it can.
func (x *exchange) stopPausing(pause time.Duration) Stop {
	switch left := x.w.maxWait; {
	case left == NoWait, left > 0 && pause > left:
		return WaitTooLong
	case !x.w.deadline.IsZero() && x.received.Add(pause).After(x.w.deadline):
		return DeadlineTooNear
	}
	return Finished
}

// stopOf is the reason that an error stands for.
func stopOf(err error, otherwise Stop) Stop {
	var limit *LimitError
	switch {
	case errors.Is(err, ErrMaxHold):
		return HoldTooLong
	case errors.Is(err, ErrMaxWait):
		return WaitTooLong
	case errors.Is(err, ErrQueueFull):
		return QueueFull
	case errors.Is(err, context.DeadlineExceeded):
		return DeadlineTooNear
	case errors.Is(err, context.Canceled), errors.Is(err, ErrClosed):
		return Cancelled
	case errors.Is(err, errGetBody):
		return BodyNotReplayable
	case errors.As(err, &limit):
		return Inadmissible
	}
	return otherwise
}

// loop makes the further attempts of a call. It runs in go-retryablehttp, which counts, pauses and stops; what an attempt is, and whether
// another one follows, is ours. It never sees the caller's request or a real response, since it would buffer the one and follow the
// redirects of the other: a blank request goes round in their place.
type loop struct {
	x    *exchange
	last outcome
	seen bool // the first outcome has gone round
}

// loop goes on after the outcome of the first attempt, until an outcome is final.
func (x *exchange) loop(first outcome) outcome {
	l := &loop{x: x, last: first}
	client := retryablehttp.Client{
		HTTPClient: &http.Client{Transport: l},
		RetryMax:   maxRounds,
		CheckRetry: l.check,
		Backoff:    l.backoff,
		ErrorHandler: func(*http.Response, error, int) (*http.Response, error) {
			return nil, errors.New("throttle: the retry loop ended early")
		},
	}
	blank, err := http.NewRequestWithContext(x.ctx.Context, http.MethodGet, "http://retry.invalid/", nil)
	if err == nil {
		_, err = client.Do(&retryablehttp.Request{Request: blank})
	}
	if ended := x.ctx.Context.Err(); err != nil && ended != nil { // cancelled during a backoff
		l.last = outcome{err: ended}
	}
	return l.last
}

// maxRounds never ends the loop: repeats does.
const maxRounds = 1 << 30

// RoundTrip stands in for the base: the first outcome is there already, each further one is an attempt of ours.
func (l *loop) RoundTrip(blank *http.Request) (*http.Response, error) {
	if l.seen {
		l.next()
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: blank}, nil
}

// next makes an attempt. If the waiting for it fails and an answer was obtained before, that answer is what the caller gets.
func (l *loop) next() {
	before, attempts := l.last, l.x.result.Attempts
	l.last = l.x.attempt()
	sent := l.x.result.Attempts > attempts
	if sent || before.resp == nil || l.x.ctx.Context.Err() != nil {
		return
	}
	l.x.result.Stop = stopOf(l.last.err, l.x.result.Stop)
	if before.restore() {
		l.last = before
		l.last.kind = final
	}
}

func (l *loop) check(ctx context.Context, _ *http.Response, _ error) (bool, error) {
	if !l.seen {
		l.seen = true
		return true, nil
	}
	if l.x.result.Stop != Finished { // next has put an earlier answer in place
		return false, nil
	}
	return l.x.repeats(&l.last), nil
}

// backoff is the pause after a failure. After a refusal that names a time there is none: the lane holds the call.
func (l *loop) backoff(_, _ time.Duration, _ int, _ *http.Response) time.Duration {
	l.x.result.BackedOff += l.last.pause
	return l.last.pause
}
