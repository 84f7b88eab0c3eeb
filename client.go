package throttle

import "net/http"

// NewClient is an http.Client over a new Transport on http.DefaultTransport, ready to hand to any SDK. It has no Timeout: that would
// count the time in the queue too. Bound single attempts by WithAttemptTimeout, and whole calls by their context. The Transport is the client's
// (client.Transport.(*Transport)); whoever wants to ask it too makes it with NewTransport.
func NewClient(opts ...Option) (*http.Client, error) {
	t, err := NewTransport(nil, opts...)
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: t}, nil
}
