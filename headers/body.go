package headers

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"
)

// Body is what the body of an answer said about limits, for APIs that put there what others put into headers. Its zero value
// is a body that said nothing.
type Body struct {
	// RetryAfter is the wait that the body asked for: Gemini's RetryInfo, retry_after at Discord and Telegram, the points that
	// are missing at Shopify, or a sentence such as "Please try again in 6.2s". Never negative, never above 366 days.
	RetryAfter Maybe[time.Duration]
	// Quotas are as in a Report: from the headers that OpenRouter repeats in its body, and of points at Shopify.
	Quotas []Quota
	// Throttled: the body says that a limit was hit, whatever the status. GitHub sends 403, Linear 400, GraphQL servers 200.
	Throttled bool
	// Hopeless: waiting will not help before somebody pays or the day is over (insufficient_quota, Gemini's quotas per day).
	Hopeless bool
}

// AddTo completes a report: headers are believed first, so the body's wait counts where they gave none.
func (b *Body) AddTo(r *Report) {
	if !r.RetryAfter.Known {
		r.RetryAfter = b.RetryAfter
	}
	for _, q := range b.Quotas {
		r.Add(q)
	}
}

// ParseBody reads the body of an answer. It never fails: what it does not understand says nothing. In JSON it looks only at the
// places where APIs describe errors, so that the content of an answer is never taken for one; any other text is searched for
// the phrases of a refusal, so ask only for refusals. The caller bounds the length: every known refusal is far below 64 KiB,
// and JSON that was cut is not understood. now is the local time the answer arrived.
func ParseBody(body []byte, now time.Time) Body {
	var b Body
	body = bytes.TrimSpace(body)
	if len(body) > 0 && !b.below(body, now, 0) {
		b.signs(&bodyError{Message: string(body)})
	}
	return b
}

// bodyError is an object that may describe an error: the body itself, or what lies below "error" or "errors" in it.
type bodyError struct {
	// The next ones down: an object, a list of objects, or a text or a list of texts.
	Error  json.RawMessage `json:"error"`
	Errors json.RawMessage `json:"errors"`

	// Words for what happened; APIs differ in the place and in whether code is a number.
	Message     string          `json:"message"`
	Description string          `json:"description"` // Telegram
	Detail      string          `json:"detail"`      // Django REST framework, RFC 9457
	Code        json.RawMessage `json:"code"`
	ErrorCode   json.RawMessage `json:"error_code"`
	Type        string          `json:"type"`
	AWSType     string          `json:"__type"`
	Status      json.RawMessage `json:"status"`

	bodyWait
	Parameters bodyWait `json:"parameters"` // Telegram
	Metadata   struct {
		bodyWait
		Headers map[string]string `json:"headers"` // OpenRouter
	} `json:"metadata"`
	Details    []bodyDetail `json:"details"` // Google
	Extensions struct {
		Code json.RawMessage `json:"code"` // GraphQL
		Cost bodyCost        `json:"cost"` // Shopify
	} `json:"extensions"`
}

// bodyWait is a wait as a field of its own: a number, or a number as a text.
type bodyWait struct {
	Seconds json.RawMessage `json:"retry_after"`
	Camel   json.RawMessage `json:"retryAfter"`
	Long    json.RawMessage `json:"retry_after_seconds"`
	Milli   json.RawMessage `json:"retry_after_ms"`
}

// bodyDetail is one of Google's error details, RetryInfo or QuotaFailure; their fields tell them apart.
type bodyDetail struct {
	RetryDelay string `json:"retryDelay"` // "45.837906927s"
	Violations []struct {
		QuotaID string `json:"quotaId"` // "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
	} `json:"violations"`
}

// bodyCost is Shopify's account of a GraphQL query.
type bodyCost struct {
	Requested float64 `json:"requestedQueryCost"`
	Throttle  struct {
		Maximum   *float64 `json:"maximumAvailable"`
		Available *float64 `json:"currentlyAvailable"`
		Rate      float64  `json:"restoreRate"` // points per second
	} `json:"throttleStatus"`
}

// deepest is how far errors within errors are followed. A list counts as a step: [{"error":{"errors":[{}]}}] is the deepest
// known.
const deepest = 4

func (b *Body) read(e *bodyError, now time.Time, depth int) {
	b.signs(e)
	b.waits(&e.bodyWait)
	b.waits(&e.Parameters)
	b.waits(&e.Metadata.bodyWait)
	for i := range e.Details {
		b.detail(&e.Details[i])
	}
	b.headers(e.Metadata.Headers, now)
	b.below(e.Error, now, depth+1)
	b.below(e.Errors, now, depth+1)
	b.cost(&e.Extensions.Cost)
	for _, text := range e.texts() {
		if b.Throttled && !b.RetryAfter.Known {
			b.RetryAfter = waitInText(text)
		}
	}
}

// texts are the sentences of an error.
func (e *bodyError) texts() [3]string { return [...]string{e.Message, e.Description, e.Detail} }

// below reads an error in whichever form it has: an object, a text, a list of them. False for what is no JSON of such a form;
// a field of a type not expected is passed over, and the rest of its object is read.
func (b *Body) below(raw []byte, now time.Time, depth int) bool {
	if len(raw) == 0 || depth > deepest || !json.Valid(raw) {
		return false
	}
	var e bodyError
	switch raw[0] {
	case '{':
		_ = json.Unmarshal(raw, &e)
	case '"':
		_ = json.Unmarshal(raw, &e.Message)
	case '[':
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list)
		for _, raw := range list[:min(len(list), maxQuotas)] {
			b.below(raw, now, depth+1)
		}
		return true
	default:
		return false
	}
	b.read(&e, now, depth)
	return true
}

func (b *Body) waits(w *bodyWait) {
	b.wait(w.Seconds, time.Second)
	b.wait(w.Camel, time.Second)
	b.wait(w.Long, time.Second)
	b.wait(w.Milli, time.Millisecond)
}

// wait takes over a number of units, or a text that Retry-After could hold. Of several waits the longest counts.
func (b *Body) wait(raw json.RawMessage, unit time.Duration) {
	text := string(raw)
	if len(raw) > 0 && raw[0] == '"' {
		_ = json.Unmarshal(raw, &text)
	}
	if n, ok := parseDecimal(text); ok {
		if d, ok := n.times(unit); ok {
			raise(&b.RetryAfter, d)
		}
	}
}

func (b *Body) detail(d *bodyDetail) {
	if wait, _, ok := parseDuration(d.RetryDelay); ok {
		raise(&b.RetryAfter, wait)
	}
	for _, v := range d.Violations {
		b.Hopeless = b.Hopeless || quotaPerDay(v.QuotaID)
	}
}

// headers reads the headers of the service behind, which OpenRouter repeats in its body.
func (b *Body) headers(lines map[string]string, now time.Time) {
	if len(lines) == 0 {
		return
	}
	h := make(http.Header, len(lines))
	for name, line := range lines {
		h.Add(name, line)
	}
	r := Parse(h, 0, now)
	if r.RetryAfter.Known {
		raise(&b.RetryAfter, r.RetryAfter.Value)
	}
	for _, q := range r.Quotas {
		b.add(q)
	}
}

// add bounds and joins quotas as a report does.
func (b *Body) add(q Quota) {
	r := Report{Quotas: b.Quotas}
	r.Add(q)
	b.Quotas = r.Quotas
}

// cost reads Shopify's leaky bucket of points. A query that was throttled fits once what it lacks has been restored.
func (b *Body) cost(c *bodyCost) {
	q := Quota{Unit: "points", Limit: countOfFloat(c.Throttle.Maximum), Remaining: countOfFloat(c.Throttle.Available)}
	if !q.tells() {
		return
	}
	b.add(q)
	missing := c.Requested - q.Remaining.Value
	if !b.Throttled || !q.Remaining.Known || missing <= 0 || c.Throttle.Rate <= 0 {
		return
	}
	if wait := spanOfFloat(missing/c.Throttle.Rate, time.Second); wait.Known {
		raise(&b.RetryAfter, wait.Value)
	}
}
