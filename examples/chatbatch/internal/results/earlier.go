package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/batchfile"
)

// ErrNotResults says that a file to be continued is something else.
var ErrNotResults = errors.New("it holds no result line of a batch")

// Earlier is what a file of results already says.
type Earlier struct {
	ids        *batchfile.IDs[entry]
	Lines      int            // result lines
	Unreadable int            // lines that are neither blank nor a result, a torn tail not counted
	Tokens     int64          // spent, as the answers said
	Attempts   map[string]int // requests sent since the moment asked for, by model

	end  int64 // after the last whole line
	tail tail
}

// tail is how the file ends.
type tail uint8

const (
	clean    tail = iota
	unended       // a whole result that lacks its newline
	fragment      // half a line: what a killed writer leaves
)

type entry struct {
	verdict  Verdict
	attempts int32
	hash     [8]byte // the first half of the body hash's hex digits; zero if unknown
}

func noEarlier() *Earlier {
	return &Earlier{ids: batchfile.NewIDs[entry](), Attempts: map[string]int{}}
}

// readEarlier goes through a file of results. Attempts sent since that moment are counted.
func readEarlier(r io.Reader, since time.Time) (*Earlier, error) {
	e := noEarlier()
	lines := batchfile.NewLines(r, 0)
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return e, e.check()
		}
		if err != nil {
			return nil, err
		}
		e.add(line, since)
	}
}

// check refuses a file that has text and no result: it belongs to somebody else.
func (e *Earlier) check() error {
	if e.Lines == 0 && (e.Unreadable > 0 || e.tail == fragment) {
		return ErrNotResults
	}
	return nil
}

func (e *Earlier) add(line batchfile.Line, since time.Time) {
	size := int64(len(line.Text))
	if line.Complete {
		size++
	}
	text := bytes.TrimSpace(line.Text)
	if len(text) == 0 && !line.TooLong {
		e.blank(line, size)
		return
	}
	seen, ok := parseLine(text)
	switch {
	case ok:
		e.note(seen, since)
		if !line.Complete {
			e.tail = unended
		}
	case !line.Complete:
		e.tail = fragment
		return
	default:
		e.Unreadable++
	}
	e.end = line.Offset + size
}

// blank lines count for nothing; blanks at the end without a newline are cut like a fragment.
func (e *Earlier) blank(line batchfile.Line, size int64) {
	if line.Complete {
		e.end = line.Offset + size
	} else {
		e.tail = fragment
	}
}

// note keeps the line of an id. A final one is not given up for a later one that is not.
func (e *Earlier) note(s *seenLine, since time.Time) {
	e.Lines++
	e.Tokens += s.tokens()
	if s.SentAt.After(since) {
		e.Attempts[s.Model] += s.Attempts + s.EarlierAttempts
	}
	now := entry{verdict: s.verdict(), attempts: int32(s.Attempts + s.EarlierAttempts)}
	copy(now.hash[:], s.BodyHash)
	if before, dup := e.ids.Add(s.CustomID, now); dup && before.verdict <= now.verdict {
		e.ids.Set(s.CustomID, now)
	}
}

// Verdict is what the file says about id; known is false if it says nothing.
func (e *Earlier) Verdict(id string) (v Verdict, known bool) {
	got, ok := e.ids.Get(id)
	return got.verdict, ok
}

// AttemptsOf is how many requests earlier runs sent for id.
func (e *Earlier) AttemptsOf(id string) int {
	got, _ := e.ids.Get(id)
	return int(got.attempts)
}

// Changed tells whether id was answered for another body than the one of that hash. Results without a hash are believed.
func (e *Earlier) Changed(id, hash string) bool {
	got, ok := e.ids.Get(id)
	var now [8]byte
	copy(now[:], hash)
	return ok && got.hash != [8]byte{} && got.hash != now
}

// seenLine is a result line as other tools write it too: vLLM sets response and error together, its old versions put the answer itself
// where the response belongs.
type seenLine struct {
	CustomID string          `json:"custom_id"`
	Response *seenResponse   `json:"response"`
	Error    json.RawMessage `json:"error"`

	Model           string    `json:"model"`
	Attempts        int       `json:"attempts"`
	EarlierAttempts int       `json:"earlier_attempts"`
	SentAt          time.Time `json:"sent_at"`
	BodyHash        string    `json:"body_hash"`
}

type seenResponse struct {
	StatusCode int             `json:"status_code"`
	Choices    json.RawMessage `json:"choices"`
	Body       json.RawMessage `json:"body"`
}

// parseLine reads a result: an object with a custom_id and a response or an error.
func parseLine(text []byte) (*seenLine, bool) {
	var s seenLine
	if err := json.Unmarshal(text, &s); err != nil || s.CustomID == "" {
		return nil, false
	}
	return &s, s.Response != nil || s.Error != nil
}

func (s *seenLine) verdict() Verdict {
	switch {
	case s.Response == nil:
		return Undecided
	case s.Response.StatusCode == 0 && s.Response.Choices != nil:
		return Answered
	}
	v := VerdictOf(s.Response.StatusCode)
	if v == Answered && (s.Error != nil && string(s.Error) != "null" || IsFailure(s.Response.Body)) {
		return Undecided
	}
	return v
}

func (s *seenLine) tokens() int64 {
	var body struct {
		Usage struct {
			Total int64 `json:"total_tokens"`
		} `json:"usage"`
	}
	if s.Response == nil || json.Unmarshal(s.Response.Body, &body) != nil {
		return 0
	}
	return body.Usage.Total
}
