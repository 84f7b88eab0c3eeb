package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/batchfile"
)

// MaxLine bounds a result line, in bytes with its newline, for writing and for reading alike, so that whatever was written can be read again. It holds an
// answer of 64 MiB and what is echoed of a request line of MaxEcho, of which JSON may make twice as much.
const MaxLine = 8 * batchfile.MaxLine

// MaxEcho is the longest request line whose result is sure to fit.
const MaxEcho = 3 * batchfile.MaxLine

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
	Estimated   int64           `json:"estimated_tokens,omitempty"` // charged for a request that was sent, where no usage was told
	Spent       int64           `json:"earlier_tokens,omitempty"`   // charged in runs before this one, whose result line this one replaces
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
	if err := enc.Encode(l); err != nil {
		return nil, err
	}
	if b.Len() > MaxLine {
		return nil, fmt.Errorf("it is above %d bytes", MaxLine)
	}
	return b.Bytes(), nil
}
