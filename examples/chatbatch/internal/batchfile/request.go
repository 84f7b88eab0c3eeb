package batchfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
)

// Request is one line that can be sent.
type Request struct {
	Line     int    // file line, from 1
	ID       string // custom_id, or "line-N" in a cookbook file
	Model    string // the body's model, "" if it names none
	Body     []byte // what to send, byte for byte as it stood in the file
	Metadata []byte // cookbook only: the JSON value that was taken out of the body, nil if there was none
}

// Clone copies the request out of the reader's memory, which the next line will overwrite.
func (r *Request) Clone() *Request {
	c := *r
	c.Body, c.Metadata = bytes.Clone(r.Body), bytes.Clone(r.Metadata)
	return &c
}

// Hash is a fingerprint of the body: 64 bits of SHA-256 in hex, enough to notice that a line was edited.
func (r *Request) Hash() string {
	sum := sha256.Sum256(r.Body)
	return hex.EncodeToString(sum[:8])
}
