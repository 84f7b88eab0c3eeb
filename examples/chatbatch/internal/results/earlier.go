package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/batchfile"
	"github.com/seed-18ca0a92/throttle/llm"
)

// ErrNotResults says that a file to be continued or overwritten is something else.
var ErrNotResults = errors.New("it holds no result line of a batch")

// Earlier is what a file of results already says.
type Earlier struct {
	ids        *batchfile.IDs[entry]
	Lines      int            // result lines
	Unreadable int            // lines that are neither blank nor a result, a torn tail not counted
	Tokens     int64          // spent, as the answers said or, where they did not, as it was estimated
	Attempts   map[string]int // requests sent since the moment asked for, by model

	outdated int   // lines in whose place others of the same id count
	end      int64 // after the last whole line
	tail     tail
	ours     bool // a fragment at the end begins as our lines do
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
	at       int64   // where its line begins
	tokens   int64   // charged for it, earlier runs included
	hash     [8]byte // the first half of the body hash's hex digits; zero if unknown
}

func noEarlier() *Earlier {
	return &Earlier{ids: batchfile.NewIDs[entry](), Attempts: map[string]int{}}
}

// readEarlier goes through a file of results. Attempts sent since that moment are counted.
func readEarlier(lines *batchfile.Lines, since time.Time) (*Earlier, error) {
	e := noEarlier()
	lines.SkipMark()
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

// checkOurs refuses a file of something else, which is not to be thrown away. It reads as far as the first result.
func checkOurs(lines *batchfile.Lines) error {
	e := noEarlier()
	lines.SkipMark()
	for e.Lines == 0 {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return e.check()
		}
		if err != nil {
			return err
		}
		e.add(line, time.Time{})
	}
	return nil
}

// check refuses a file that has text and no result: it belongs to somebody else. Half a line alone may be that of a writer who was killed at once.
func (e *Earlier) check() error {
	if e.Lines == 0 && (e.Unreadable > 0 || e.tail == fragment && !e.ours) {
		return ErrNotResults
	}
	return nil
}

// lineStart is how each result line that this program writes begins.
const lineStart = `{"id":"batch_req_`

// beginsOurs reports whether half a line may be the beginning of a result line.
func beginsOurs(text []byte) bool {
	n := min(len(text), len(lineStart))
	return string(text[:n]) == lineStart[:n]
}

// add takes a line. What does not end in a newline and is no result is what a killed writer leaves, and will be cut; but never a line that is too long
// to be looked at.
func (e *Earlier) add(line batchfile.Line, since time.Time) {
	text := bytes.TrimSpace(line.Text)
	seen, ok := parseLine(text)
	switch {
	case ok:
		e.note(seen, line.Offset, since)
	case line.TooLong:
		e.Unreadable++
	case !line.Complete:
		e.tail, e.ours = fragment, beginsOurs(text)
		return
	case len(text) > 0:
		e.Unreadable++
	}
	if !line.Complete {
		e.tail = unended
	}
	e.end = line.Offset + line.Size
}

// note keeps the line of an id. A final one is not given up for a later one that is not.
func (e *Earlier) note(s *seenLine, at int64, since time.Time) {
	e.Lines++
	now := entry{verdict: s.verdict(), attempts: int32(s.Attempts + s.EarlierAttempts), at: at, tokens: s.tokens()}
	e.Tokens += now.tokens
	if s.SentAt.After(since) {
		e.Attempts[s.Model] += int(now.attempts)
	}
	copy(now.hash[:], s.BodyHash)
	before, dup := e.ids.Add(s.CustomID, now)
	if !dup {
		return
	}
	e.outdated++
	if before.verdict <= now.verdict {
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

// TokensOf is what was charged for id.
func (e *Earlier) TokensOf(id string) int64 {
	got, _ := e.ids.Get(id)
	return got.tokens
}

// place is where the line of id begins.
func (e *Earlier) place(id string) (at int64, known bool) {
	got, known := e.ids.Get(id)
	return got.at, known
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
	Estimated       int64     `json:"estimated_tokens"`
	Spent           int64     `json:"earlier_tokens"`
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

// tokens is what was charged for the line: what its answer says, or else what was estimated; and what was charged before.
func (s *seenLine) tokens() int64 {
	if s.Response != nil {
		if t, ok := llm.ParseUsage(s.Response.Body); ok {
			return int64(t.Total) + s.Spent
		}
	}
	return s.Estimated + s.Spent
}
