package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/results"
	"github.com/seed-18ca0a92/throttle/llm"
)

// judge turns what came back into a result line, and says whether the job can go on.
func (j *Job) judge(f *flight, line *results.Line, r reply) outcome {
	var o outcome
	switch {
	case r.err != nil && f.stopped():
		o = j.judgeError(line, errCancelled)
		o.cut = true
	case r.err != nil:
		o = j.judgeError(line, r.err)
	default:
		o = j.judgeAnswer(line, r)
	}
	if line.Attempts == 0 && (o.cut || o.stop.Kind != NotStopped) {
		o.line = nil // the request is as good as before: the next run sends it
	}
	if f.grounds() {
		o.stop = Stop{Kind: Account, Text: "the server refuses the key or the account: " + o.cause}
	}
	return o
}

// errCancelled is for requests that were sent and not waited for any longer.
var errCancelled = errors.New("the job was stopped before its answer was there")

// judgeError is for requests without a usable answer.
func (j *Job) judgeError(line *results.Line, err error) outcome {
	code := codeOf(err)
	o := outcome{line: line, cause: code}
	line.Error = &results.Error{Code: code, Message: j.Clean.Text(textOf(err))}
	var limit *throttle.LimitError
	if errors.As(err, &limit) && errors.Is(err, throttle.ErrMaxHold) {
		o.stop = Stop{Kind: Hold, Text: fmt.Sprintf("the next request would have to wait %v", limit.Wait.Round(time.Second)), Until: limit.Until}
	}
	return o
}

// codeOf names the kind of an error.
func codeOf(err error) string {
	var network net.Error
	switch {
	case errors.Is(err, throttle.ErrCostTooLarge):
		return "cost_too_large"
	case errors.Is(err, throttle.ErrMaxWait), errors.Is(err, throttle.ErrMaxHold):
		return "wait_too_long"
	case errors.Is(err, errCancelled):
		return "cancelled"
	case errors.Is(err, errTooLarge):
		return "answer_too_large"
	case errors.Is(err, errNotJSON):
		return "answer_not_json"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "timeout"
	}
	return "connection_failed"
}

// judgeAnswer is for requests that the server answered, whatever it said.
func (j *Job) judgeAnswer(line *results.Line, r reply) outcome {
	status := r.resp.StatusCode
	body, err := j.asObject(r)
	if err != nil {
		return j.judgeError(line, err)
	}
	line.Response = &results.Response{StatusCode: status, RequestID: short(j.Clean.Text(requestID(r.resp.Header)), maxWord), Body: body}
	tokens, _ := llm.ParseUsage(r.body)
	o := outcome{line: line, tokens: tokens}
	if failed := results.IsFailure(body); failed || status < 200 || status > 299 {
		o.cause = short(j.Clean.Text(causeOf(status, body)), maxWord) + j.redirect(r)
		o.stop = j.stopFor(r, o.cause)
		if failed && status < 300 {
			line.Error = &results.Error{Code: "answer_is_error", Message: "the status is a success and the body an error: " + o.cause}
		}
	}
	return o
}

// maxWord bounds a name or a code that a server gives, in bytes.
const maxWord = 200

// textOf is err without the hash of the credential that stands in the name of a quota.
func textOf(err error) string {
	var limit *throttle.LimitError
	if !errors.As(err, &limit) {
		return err.Error()
	}
	bare := *limit
	host, rest, _ := strings.Cut(limit.Key, "#")
	_, model, _ := strings.Cut(rest, " ")
	bare.Key = strings.TrimSpace(host + " " + model)
	return bare.Error()
}

// stopFor says what a refusal means for the requests behind it.
func (j *Job) stopFor(r reply, cause string) Stop {
	status := r.resp.StatusCode
	switch {
	case r.result.Stop == throttle.HoldTooLong:
		return Stop{Kind: Hold, Text: fmt.Sprintf("the server asks to be left alone for %v", r.result.Asked), Until: time.Now().Add(r.result.Asked)}
	case r.result.Stop == throttle.HopelessRefusal, status < 300 && isHopeless(r.body):
		return Stop{Kind: Account, Text: "the server refuses for a reason that waiting does not heal: " + cause}
	case isRedirect(status) && j.Tally.answeredNone():
		return Stop{Kind: Redirect, Text: "the server sends requests elsewhere, where none goes without the user's word: " + cause}
	}
	return Stop{}
}

// isHopeless is what the client finds in refusals, for an error that came with the status of a success.
func isHopeless(body []byte) bool {
	return llm.Verdict(&http.Response{StatusCode: http.StatusBadRequest}, func() []byte { return body }) == throttle.Hopeless
}

var errNotJSON = errors.New("the answer is not JSON")

// prefix is how much of a body that is no JSON is kept, in bytes: enough to recognise a proxy's page.
const prefix = 500

// asObject makes a body fit for a result line. A refusal that is no JSON object is put into one; an answer that is none is an error, so that nobody takes
// it for a completion.
func (j *Job) asObject(r reply) ([]byte, error) {
	text, status := strings.TrimSpace(string(r.body)), r.resp.StatusCode
	if strings.HasPrefix(text, "{") && json.Valid(r.body) {
		return r.body, nil
	}
	shown := short(j.Clean.Text(text), prefix)
	if status >= 200 && status <= 299 {
		return nil, fmt.Errorf("%w (status %d): %s", errNotJSON, status, shown)
	}
	kind := "not_json"
	if to := j.redirect(r); to != "" {
		kind, shown = "redirect", strings.TrimSpace(to)
	}
	return json.Marshal(map[string]any{"error": map[string]any{"message": shown, "type": kind, "param": nil, "code": nil}})
}

// redirect is where a server sends requests that it does not answer; empty for all other answers.
func (j *Job) redirect(r reply) string {
	to := r.resp.Header.Get("Location")
	if !isRedirect(r.resp.StatusCode) || to == "" {
		return ""
	}
	return " to " + short(j.Clean.Text(to), prefix)
}

func isRedirect(status int) bool { return status >= 300 && status < 400 }

// causeOf groups failures: by status and by the code, or else the type, that the body gives.
func causeOf(status int, body []byte) string {
	var b struct {
		Error struct {
			Code any    `json:"code"`
			Type string `json:"type"`
		} `json:"error"`
	}
	_ = json.Unmarshal(body, &b) // a body of another shape has no code
	if code, ok := b.Error.Code.(string); ok && code != "" {
		return fmt.Sprintf("HTTP %d %s", status, code)
	}
	if b.Error.Type != "" {
		return fmt.Sprintf("HTTP %d %s", status, b.Error.Type)
	}
	return fmt.Sprintf("HTTP %d", status)
}

// requestID is the server's name for the call, which its support asks for.
func requestID(h http.Header) string {
	for _, name := range []string{"X-Request-Id", "Request-Id", "Apim-Request-Id"} {
		if id := h.Get(name); id != "" {
			return id
		}
	}
	return ""
}

// NewID is a fresh name for a result, in the shape that OpenAI's have.
func NewID() string { return fmt.Sprintf("batch_req_%016x", rand.Uint64()) }
