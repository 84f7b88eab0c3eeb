package job

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
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
	case r.err != nil:
		o = j.judgeError(line, r.err)
	default:
		o = j.judgeAnswer(f, line, r)
	}
	if f.grounds() {
		o.stop = Stop{Kind: Account, Text: "the server refuses the key or the account: " + o.cause}
	}
	return o
}

// judgeError is for requests without a usable answer.
func (j *Job) judgeError(line *results.Line, err error) outcome {
	code := codeOf(err)
	o := outcome{line: line, cause: code}
	line.Error = &results.Error{Code: code, Message: j.clean(err.Error())}
	var limit *throttle.LimitError
	if errors.As(err, &limit) && errors.Is(err, throttle.ErrMaxHold) {
		o.line = nil // the request is as good as before: the next run sends it
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
	case errors.Is(err, throttle.ErrMaxWait):
		return "wait_too_long"
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
func (j *Job) judgeAnswer(f *flight, line *results.Line, r reply) outcome {
	status := r.resp.StatusCode
	if f.stopped() && mayRepeat(status) {
		return outcome{} // it would have been tried again
	}
	body, err := asObject(r.body, status)
	if err != nil {
		return j.judgeError(line, err)
	}
	line.Response = &results.Response{StatusCode: status, RequestID: requestID(r.resp.Header), Body: j.cleanBody(body, status)}
	tokens, _ := llm.ParseUsage(r.body)
	o := outcome{line: line, tokens: tokens}
	if status < 200 || status > 299 {
		o.cause = causeOf(status, body)
		o.stop = j.stopFor(r, o.cause)
	}
	return o
}

// stopFor says what a refusal means for the requests behind it.
func (j *Job) stopFor(r reply, cause string) Stop {
	switch {
	case r.result.Stop == throttle.HoldTooLong:
		return Stop{Kind: Hold, Text: fmt.Sprintf("the server asks to be left alone for %v", r.result.Asked), Until: time.Now().Add(r.result.Asked)}
	case r.result.Stop == throttle.HopelessRefusal:
		return Stop{Kind: Account, Text: "the server refuses for a reason that waiting does not heal: " + cause}
	}
	return Stop{}
}

var errNotJSON = errors.New("the answer is not JSON")

// prefix is how much of a body that is no JSON is kept, in bytes: enough to recognise a proxy's page.
const prefix = 500

// asObject makes a body fit for a result line. A refusal that is no JSON object is put into one; an answer that is none is an error, so that nobody takes
// it for a completion.
func asObject(body []byte, status int) ([]byte, error) {
	text := strings.TrimSpace(string(body))
	if strings.HasPrefix(text, "{") && json.Valid(body) {
		return body, nil
	}
	shown := strings.ToValidUTF8(text[:min(len(text), prefix)], "\uFFFD")
	if status >= 200 && status <= 299 {
		return nil, fmt.Errorf("%w (status %d): %s", errNotJSON, status, shown)
	}
	return json.Marshal(map[string]any{"error": map[string]any{"message": shown, "type": "not_json", "param": nil, "code": nil}})
}

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

func NewID() string { return fmt.Sprintf("batch_req_%016x", rand.Uint64()) }

// minSecret keeps a short word that was given for a key from being cut out of every text.
const minSecret = 8

// masked is how services show a key that they refuse: its head and its tail.
var masked = regexp.MustCompile(`([A-Za-z0-9_-]{2,})(?:\*+|\.{3}|…)([A-Za-z0-9_-]{2,})`)

// cleanBody takes the secret out of an answer; only refusals are searched for masked keys, since a completion may show whatever it likes.
func (j *Job) cleanBody(body []byte, status int) json.RawMessage {
	if status >= 400 {
		return json.RawMessage(j.clean(string(body)))
	}
	if len(j.Secret) < minSecret || !bytes.Contains(body, []byte(j.Secret)) {
		return body
	}
	return bytes.ReplaceAll(body, []byte(j.Secret), []byte("[key]"))
}

// clean takes the secret out of a text, also where only its ends are shown.
func (j *Job) clean(text string) string {
	if len(j.Secret) < minSecret {
		return text
	}
	text = strings.ReplaceAll(text, j.Secret, "[key]")
	if !strings.ContainsAny(text, "*.…") {
		return text
	}
	return masked.ReplaceAllStringFunc(text, func(shown string) string {
		ends := masked.FindStringSubmatch(shown)
		if strings.HasPrefix(j.Secret, ends[1]) && strings.HasSuffix(j.Secret, ends[2]) {
			return "[key]"
		}
		return shown
	})
}
