package batchfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// FileError says why a file as a whole holds no requests that could be read.
type FileError struct {
	Code    string // one of the constants below
	Message string // one sentence for the user
}

// The codes of FileError.
const (
	NotUTF8       = "not_utf8_utf16"
	Compressed    = "gzip"
	JSONArray     = "json_array"
	PrettyPrinted = "pretty_printed"
	NoRequests    = "no_requests"
	NotJSONL      = "not_jsonl"
)

// Error is the sentence.
func (e *FileError) Error() string { return e.Message }

func refusal(code string) *FileError {
	return &FileError{Code: code, Message: refusals()[code]}
}

func refusals() map[string]string {
	return map[string]string{
		NotUTF8:       "the file is UTF-16, not UTF-8: save it as UTF-8 (PowerShell: Out-File -Encoding utf8)",
		Compressed:    "the file is compressed (gzip): unpack it first, for example gunzip -c FILE | chatbatch -i - ...",
		JSONArray:     "the file is a JSON array, not JSON lines: put each object on a line of its own (jq -c '.[]')",
		PrettyPrinted: "the file is pretty-printed JSON, not JSON lines: put each object on a line of its own (jq -c .)",
		NoRequests:    "the file holds no requests: every line is empty",
		NotJSONL:      "the file is not JSON lines: not one line is a JSON object",
	}
}

// refuseEncoding names files that no line of can be read, by their first bytes.
func refuseEncoding(head []byte) *FileError {
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return refusal(NotUTF8)
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return refusal(Compressed)
	}
	return nil
}

// refuseLayout names files whose objects do not stand on a line each, by their first line that is not blank: an array that goes on, or the brace of an object
// alone. More of an object may be a line that was cut.
func refuseLayout(first []byte) *FileError {
	switch {
	case isArray(first) && isOpen(first):
		return refusal(JSONArray)
	case string(first) == "{":
		return refusal(PrettyPrinted)
	}
	return nil
}

// isOpen tells whether text is the beginning of a JSON value and not the whole.
func isOpen(text []byte) bool {
	var whole json.RawMessage
	err := json.NewDecoder(bytes.NewReader(text)).Decode(&whole)
	return errors.Is(err, io.ErrUnexpectedEOF)
}
