package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle"
)

func TestCodesOfErrors(t *testing.T) {
	limit := func(err error) error { return &throttle.LimitError{Key: "k", Err: err} }
	for _, c := range []struct {
		err  error
		want string
	}{
		{limit(throttle.ErrCostTooLarge), "cost_too_large"},
		{limit(throttle.ErrMaxWait), "wait_too_long"},
		{limit(context.DeadlineExceeded), "timeout"},
		{fmt.Errorf("its body: %w", context.DeadlineExceeded), "timeout"},
		{os.ErrDeadlineExceeded, "timeout"},
		{errTooLarge, "answer_too_large"},
		{fmt.Errorf("x: %w", errNotJSON), "answer_not_json"},
		{io.ErrUnexpectedEOF, "connection_failed"},
		{errors.New("connection reset by peer"), "connection_failed"},
	} {
		assert.Equal(t, c.want, codeOf(c.err), c.err)
	}
}

func replyOf(status int, body string) reply {
	return reply{resp: &http.Response{StatusCode: status, Header: http.Header{}}, body: []byte(body)}
}

func TestBodiesOfResults(t *testing.T) {
	for _, c := range []struct {
		body   string
		status int
		want   string // "" = an error
	}{
		{` {"a": 1} `, 200, ` {"a": 1} `},
		{`{"error":{}}`, 500, `{"error":{}}`},
		{`[1]`, 200, ``},
		{``, 200, ``},
		{`{"cut`, 200, ``},
		{`<html>`, 502, `{"error":{"code":null,"message":"\u003chtml\u003e","param":null,"type":"not_json"}}`},
		{``, 503, `{"error":{"code":null,"message":"","param":null,"type":"not_json"}}`},
		{"caf\xe9", 500, `{"error":{"code":null,"message":"caf` + "\uFFFD" + `","param":null,"type":"not_json"}}`},
	} {
		got, err := (&Job{}).asObject(replyOf(c.status, c.body))
		if c.want == "" {
			assert.ErrorIs(t, err, errNotJSON, c.body)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, c.want, string(got))
		assert.True(t, json.Valid(got))
	}
	_, err := (&Job{}).asObject(replyOf(200, strings.Repeat("x", 10_000)))
	assert.Less(t, len(err.Error()), 2*prefix, "only the beginning of a page is kept")
}

func TestCausesGroupFailures(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"code":"rate_limit_exceeded","type":"tokens"}}`: "HTTP 429 rate_limit_exceeded",
		`{"error":{"code":null,"type":"invalid_request_error"}}`:   "HTTP 429 invalid_request_error",
		`{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}`:     "HTTP 429",
		`{"error":"no"}`: "HTTP 429",
		`{}`:             "HTTP 429",
	} {
		assert.Equal(t, want, causeOf(429, []byte(body)))
	}
}

func TestRequestIDs(t *testing.T) {
	assert.Equal(t, "a", requestID(http.Header{"X-Request-Id": {"a"}, "Request-Id": {"b"}}))
	assert.Equal(t, "b", requestID(http.Header{"Request-Id": {"b"}}))
	assert.Empty(t, requestID(http.Header{}))
}

func TestErrorsDoNotShowTheURL(t *testing.T) {
	err := bare(&url.Error{Op: "Post", URL: "https://a.example/?key=secret", Err: io.EOF})
	assert.NotContains(t, err.Error(), "secret")
	assert.ErrorIs(t, err, io.EOF)
	assert.Equal(t, io.EOF, bare(io.EOF))
}

// The hash of the credential in a quota's name is no secret, but it is made of one.
func TestErrorsDoNotShowTheQuotasHash(t *testing.T) {
	text := textOf(fmt.Errorf("x: %w", &throttle.LimitError{Key: "api.example#d130ddfafac06863 some model", Err: throttle.ErrCostTooLarge}))
	assert.Contains(t, text, "api.example some model")
	assert.NotContains(t, text, "d130ddfafac06863")
	assert.Contains(t, textOf(&throttle.LimitError{Key: "api.example", Err: throttle.ErrMaxWait}), "api.example: the wait")
}
