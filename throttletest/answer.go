package throttletest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// answer is what goes back.
type answer struct {
	status int
	header http.Header
	flow   *flow
	stream bool // no Content-Length
}

// answer makes the answer to a call. clock is the server's, when the answer begins.
func (u *Upstream) answer(k *call, v *verdict, clock time.Time) answer {
	a := answer{status: v.status, header: http.Header{
		"Content-Type": {"application/json"},
		"Date":         {clock.UTC().Format(http.TimeFormat)},
		"X-Request-Id": {"req_" + strconv.Itoa(v.n)},
	}}
	if k.id != "" {
		a.header.Set(IDHeader, k.id)
	}
	for _, s := range v.says {
		s.write(a.header)
	}
	if v.hinted {
		u.config.hint.write(a.header, v.wait, u.config.hintRound, clock)
	}
	a.fill(u.config, k, v)
	if v.fault != nil {
		a.flow.suffer(v.fault)
		a.stream = a.stream || a.flow.length() < 0
	}
	if !a.stream && !hasNoBody(a.status) {
		a.header.Set("Content-Length", strconv.FormatInt(a.flow.length(), 10))
	}
	if v.fault != nil {
		override(a.header, v.fault.Header)
	}
	return a
}

// bodiless says whether an answer like this has no body (RFC 9110, section 6.4.1).
func (a answer) bodiless(method string) bool { return method == http.MethodHead || hasNoBody(a.status) }

func hasNoBody(status int) bool {
	return status == http.StatusNoContent || status == http.StatusNotModified
}

// override sets the fields of by in h; a nil value removes one.
func override(h, by http.Header) {
	for name, values := range by {
		h.Del(name)
		if values != nil {
			h[http.CanonicalHeaderKey(name)] = slices.Clone(values)
		}
	}
}

// fill chooses the body by what was asked and decided.
func (a *answer) fill(c *config, k *call, v *verdict) {
	if c.answer != nil && v.reason == Admitted {
		if own := c.answer(k.request, k.body); own != nil {
			a.flow = unary(own)
			return
		}
	}
	path := k.request.URL.Path
	switch {
	case v.status >= http.StatusBadRequest:
		a.flow = unary(errorBody(v, v.hinted && c.hint != NoHint))
	case strings.HasSuffix(path, "/chat/completions") && k.ask.Stream:
		a.header.Set("Content-Type", "text/event-stream")
		a.flow, a.stream = chatStream(k, v, c.latency.PerToken), true
	case strings.HasSuffix(path, "/chat/completions"):
		a.flow = unary(chatBody(k, v))
	case strings.HasSuffix(path, "/embeddings"):
		a.flow = unary(embeddingBody(k))
	default:
		a.flow = unary(encode(map[string]any{"ok": true, "n": v.n, "id": k.id}))
	}
}

// encode cannot fail: what it is given is made of maps, slices, strings and finite numbers.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return []byte(strconv.Quote(err.Error()))
	}
	return append(b, '\n')
}

// errorBody is an error in OpenAI's form; the type outside is Anthropic's. The wait is told if it is told elsewhere.
func errorBody(v *verdict, hinted bool) []byte {
	kind, code, text := "server_error", "error", http.StatusText(v.status)
	switch v.reason {
	case OverLimit:
		kind, code = v.unit, "rate_limit_exceeded"
		text = "Rate limit reached for " + v.unit + "."
		if hinted {
			text += fmt.Sprintf(" Please try again in %v.", v.wait.Round(time.Millisecond))
		}
	case Banned:
		kind, code, text = "banned", "rate_limit_exceeded", "You have been refused too often."
	case InOutage:
		code, text = "overloaded", "The server is not available for the time being."
	}
	return encode(map[string]any{"type": "error", "error": map[string]any{"message": text, "type": kind, "code": code}})
}
