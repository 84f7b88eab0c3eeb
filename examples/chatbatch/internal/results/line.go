package results

import (
	"bytes"
	"encoding/json"
	"time"
)

// Line is one result. The first four fields are OpenAI's; readers that know only these are not disturbed by the others.
type Line struct {
	ID       string    `json:"id"`
	CustomID string    `json:"custom_id"`
	Response *Response `json:"response"` // nil: there was no HTTP answer that could be used
	Error    *Error    `json:"error"`    // nil where there is a Response, unless its status is a success and its body an error

	InputLine   int             `json:"line,omitempty"`             // of the input file, from 1
	Model       string          `json:"model,omitempty"`            // as asked for
	Attempts    int             `json:"attempts"`                   // requests sent for it, the first included; 0: nothing was sent
	Earlier     int             `json:"earlier_attempts,omitempty"` // of runs before this one, whose result line this one replaces
	WaitedMS    int64           `json:"waited_ms"`                  // in the client's own budget
	HeldMS      int64           `json:"held_ms"`                    // because the server said so, or refused
	BackedOffMS int64           `json:"backed_off_ms"`              // after failures
	TookMS      int64           `json:"took_ms"`                    // from the last send to the end of the answer
	SentAt      *time.Time      `json:"sent_at,omitempty"`          // the last send
	BodyHash    string          `json:"body_hash,omitempty"`        // of the request body that was sent
	Metadata    json.RawMessage `json:"metadata,omitempty"`         // of a cookbook line
}

// Response is an HTTP answer.
type Response struct {
	StatusCode int             `json:"status_code"`
	RequestID  string          `json:"request_id"` // the server's, "" if it gave none
	Body       json.RawMessage `json:"body"`       // valid JSON
}

// Error says why there is no answer.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// encode returns the line with its newline. Numbers in the body stay as the server wrote them, and nothing is escaped for HTML.
func (l Line) encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(l)
	return b.Bytes(), err
}
