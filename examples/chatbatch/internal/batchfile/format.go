package batchfile

import "fmt"

// Format is the shape of the lines of a file.
type Format uint8

// The formats. Unknown, the zero value, lets the first usable line decide.
const (
	Unknown  Format = iota
	Envelope        // OpenAI Batch: custom_id, method, url, body
	Cookbook        // the line is the body, with an optional metadata beside it
)

// String is the name that ParseFormat reads.
func (f Format) String() string {
	switch f {
	case Envelope:
		return "openai-batch"
	case Cookbook:
		return "cookbook"
	}
	return "auto"
}

// ParseFormat reads "auto", "openai-batch" or "cookbook".
func ParseFormat(s string) (Format, error) {
	for _, f := range []Format{Unknown, Envelope, Cookbook} {
		if s == f.String() {
			return f, nil
		}
	}
	return Unknown, fmt.Errorf("format %q is not known: use auto, openai-batch or cookbook", s)
}

// formatOf tells the format from one line's own fields; Unknown if they fit neither.
func formatOf(e *envelope) Format {
	switch {
	case e.id != nil || e.body != nil:
		return Envelope
	case e.messages != nil || e.input != nil:
		return Cookbook
	}
	return Unknown
}
