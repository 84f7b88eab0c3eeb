package batchfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// Options of a Reader. The zero value is right for most files.
type Options struct {
	Format  Format // Unknown: the first usable line decides
	MaxLine int    // bytes; 0 = MaxLine
}

// Item is one line that is not blank: either a Request or a Reject.
type Item struct {
	Line    int
	Request *Request // valid until the next call of Next; see Clone
	Reject  *Reject
}

// Reader goes through a file once.
type Reader struct {
	lines   *Lines
	format  Format
	ids     *IDs[owner]
	first   bool // no line with text was read yet
	objects bool // some line was an object, or too long to be known
	no      int
}

// owner is the line that has an id: the first good one or, while there is none, the first bad one.
type owner struct {
	line int
	good bool
}

// NewReader looks at the first bytes and refuses, with a *FileError, what cannot be lines of text.
func NewReader(r io.Reader, o Options) (*Reader, error) {
	lines := NewLines(r, o.MaxLine)
	if err := refuseEncoding(lines.head()); err != nil {
		return nil, err
	}
	lines.SkipMark()
	return &Reader{lines: lines, format: o.Format, ids: NewIDs[owner](), first: true}, nil
}

// Format is what the lines so far have shown.
func (r *Reader) Format() Format { return r.format }

// Lines is how many lines were read, blank ones included.
func (r *Reader) Lines() int { return r.no }

// SawObject tells whether some line so far was a JSON object; a file without any will be refused as a whole.
func (r *Reader) SawObject() bool { return r.objects }

// Next returns the next line that is not blank. At the end it returns io.EOF, or a *FileError if no line was an object.
func (r *Reader) Next() (Item, error) {
	for {
		line, err := r.lines.Next()
		if err != nil {
			return Item{}, r.end(err)
		}
		r.no = line.No
		text := bytes.TrimRight(line.Text, "\r \t")
		if line.TooLong {
			r.first, r.objects = false, true // it may have been one
			return Item{Line: line.No, Reject: reject(LineTooLong, fmt.Sprintf("above %d bytes", r.lines.max))}, nil
		}
		if len(bytes.TrimLeft(text, " \t\r")) == 0 {
			continue
		}
		return r.item(line.No, text)
	}
}

func (r *Reader) end(err error) error {
	switch {
	case !errors.Is(err, io.EOF):
		return err
	case r.first:
		return refusal(NoRequests)
	case !r.objects:
		return refusal(NotJSONL)
	}
	return io.EOF
}

func (r *Reader) item(no int, text []byte) (Item, error) {
	if r.first {
		if err := refuseLayout(bytes.TrimLeft(text, " \t")); err != nil {
			return Item{}, err
		}
		r.first = false
	}
	req, rej := r.parse(no, text)
	return Item{Line: no, Request: req, Reject: rej}, nil
}

func (r *Reader) parse(no int, text []byte) (*Request, *Reject) {
	if rej := r.checkText(text); rej != nil {
		return nil, rej
	}
	e := readEnvelope(bytes.TrimLeft(text, " \t\r"))
	if r.format == Unknown {
		r.format = formatOf(e)
	}
	switch r.format {
	case Envelope:
		return r.parseEnvelope(no, e)
	case Cookbook:
		return parseCookbook(no, bytes.TrimLeft(text, " \t\r"), e)
	}
	return nil, reject(WrongFormat, "neither a batch line (custom_id, body) nor a chat body (messages)")
}

// checkText sees to it that the line is one whole JSON object, and notes that the file has objects at all.
func (r *Reader) checkText(text []byte) *Reject {
	if !utf8.Valid(text) {
		return reject(InvalidUTF8, fmt.Sprintf("the byte at column %d is not UTF-8", invalidAt(text)+1))
	}
	if !json.Valid(text) {
		rej := syntax(text)
		r.objects = r.objects || (rej.Reason == TrailingData && isObject(bytes.TrimLeft(text, " \t\r")))
		return rej
	}
	if !isObject(bytes.TrimLeft(text, " \t\r")) {
		return reject(NotAnObject, "the line is JSON but not an object")
	}
	r.objects = true
	return nil
}

func (r *Reader) parseEnvelope(no int, e *envelope) (*Request, *Reject) {
	if formatOf(e) == Cookbook {
		return nil, reject(WrongFormat, "a bare chat body in a file of batch lines: it has no custom_id")
	}
	id, rej := e.checkID()
	if rej != nil {
		return nil, rej
	}
	body, rej := e.checkEnvelope()
	first, known := r.ids.Get(id)
	if rej == nil && first.good {
		rej = reject(DuplicateCustomID, fmt.Sprintf("line %d has it already", first.line))
	}
	if rej == nil || !known {
		r.ids.Set(id, owner{line: no, good: rej == nil})
	}
	if rej != nil {
		rej.ID, rej.FirstLine = id, first.line
		return nil, rej
	}
	return &Request{Line: no, ID: id, Model: modelOf(body), Body: e.body}, nil
}

// checkEnvelope looks at everything but the id and returns the body's own fields.
func (e *envelope) checkEnvelope() (*envelope, *Reject) {
	for _, check := range []func() *Reject{e.checkBody, e.checkMethod, e.checkURL} {
		if rej := check(); rej != nil {
			return nil, rej
		}
	}
	body := readEnvelope(e.body)
	return body, body.checkChat()
}

func parseCookbook(no int, text []byte, e *envelope) (*Request, *Reject) {
	id := "line-" + strconv.Itoa(no)
	if formatOf(e) == Envelope {
		return nil, reject(WrongFormat, "a batch line in a file of bare chat bodies")
	}
	body, metadata := without(text, "metadata")
	if rej := e.checkChat(); rej != nil {
		rej.ID, rej.Metadata = id, metadata
		return nil, rej
	}
	return &Request{Line: no, ID: id, Model: modelOf(e), Body: body, Metadata: metadata}, nil
}

func modelOf(body *envelope) string {
	if !isString(body.model) {
		return ""
	}
	return unquote(body.model)
}

// syntax tells broken JSON from a whole value with something behind it, and where.
func syntax(text []byte) *Reject {
	dec := json.NewDecoder(bytes.NewReader(text))
	var whole json.RawMessage
	if err := dec.Decode(&whole); err != nil {
		var at *json.SyntaxError
		if errors.As(err, &at) {
			return reject(InvalidJSON, fmt.Sprintf("%v at column %d", at, at.Offset))
		}
		return reject(InvalidJSON, fmt.Sprintf("the line ends at column %d, before the object does", len(text)))
	}
	end := int(dec.InputOffset())
	detail := fmt.Sprintf("something follows the object at column %d", end+1)
	if end < len(text) && text[end] == '\r' {
		detail += " (CR line ends?)"
	}
	return reject(TrailingData, detail)
}

func invalidAt(text []byte) int {
	for i := 0; i < len(text); {
		c, n := utf8.DecodeRune(text[i:])
		if c == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(text)
}
