package throttletest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Names of request headers that the upstream looks at. None is needed.
const (
	// ClientHeader labels a call with who makes it, so that the shares of several clients can be told apart.
	ClientHeader = "X-Throttletest-Client"
	// IDHeader names a call. It is echoed in the answer, and an id that is admitted twice is counted as doubled. Where it is
	// missing, Idempotency-Key stands in for it.
	IDHeader = "X-Client-Request-Id"
)

// kept is how much of a request's body is kept to be looked at; the rest is only hashed. No AI call of a test is longer.
const kept = 1 << 20

// call is one request on its way.
type call struct {
	draws
	price
	request      *http.Request
	body         []byte // the first of it
	size         int64
	sum          [sha256.Size]byte
	client       string
	key, id      string
	resource     int // index
	resourceName string
	ask          ask
	isAI         bool
}

// read takes the body of a request to its end.
func read(r *http.Request) (*call, error) {
	c := &call{request: r, client: r.Header.Get(ClientHeader), id: idOf(r)}
	if r.Body == nil {
		return c, nil
	}
	hash := sha256.New()
	whole := io.TeeReader(r.Body, hash)
	var err error
	if c.body, err = io.ReadAll(io.LimitReader(whole, kept)); err != nil {
		return nil, err
	}
	rest, err := io.Copy(io.Discard, whole)
	if err != nil {
		return nil, err
	}
	c.size = int64(len(c.body)) + rest
	hash.Sum(c.sum[:0])
	if r.ContentLength > 0 && r.ContentLength != c.size {
		return nil, fmt.Errorf("throttletest: ContentLength=%d with Body length %d: %w", r.ContentLength, c.size, errBody)
	}
	return c, nil
}

var errBody = errors.New("the body of a request is not as long as it said")

func idOf(r *http.Request) string {
	if id := r.Header.Get(IDHeader); id != "" {
		return id
	}
	return r.Header.Get("Idempotency-Key")
}
