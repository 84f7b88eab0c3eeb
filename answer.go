package throttle

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/seed-18ca0a92/throttle/headers"
)

// statusOverloaded is what Anthropic and others answer when the service itself is out of capacity.
const statusOverloaded = 529

// secondaryHold is how long GitHub asks to be left alone after a secondary limit that names no time
// (docs.github.com, "Rate limits for the REST API").
const secondaryHold = time.Minute

// reader reads answers. It is pooled: the report is used again.
type reader struct {
	report headers.Report
	now    time.Time
	peek   func() []byte // nil for streams and for answers that are no errors
	body   *headers.Body // once looked at
}

// glance reads the headers of an answer, and reports whether they say that it is a refusal while there is a body that may say more, and that may
// take its time. shape is that of the server's answers before.
func (r *reader) glance(cfg *config, shape *headers.Shape, resp *http.Response, now time.Time) (refused bool) {
	shape.ParseInto(&r.report, resp.Header, resp.StatusCode, now)
	r.now, r.peek, r.body = now, nil, nil
	if (cfg.report != nil || cfg.verdict != nil || resp.StatusCode >= 400) && !isStream(resp) {
		r.peek = peeker(resp)
	}
	return r.peek != nil && r.told(resp.StatusCode)
}

// read says what the answer means whose headers were read.
func (r *reader) read(cfg *config, resp *http.Response) outcome {
	o := outcome{resp: resp}
	if cfg.report != nil {
		cfg.report(&r.report, resp, r.peek)
	}
	verdict := ByDefault
	if cfg.verdict != nil {
		verdict = cfg.verdict(resp, r.peek)
	}
	switch verdict {
	case Accepted:
		return o
	case Hopeless:
		o.kind = hopeless
	case Refused:
		o.kind = refused
	default:
		r.byDefault(&o)
	}
	if o.kind == refused {
		o.safe = true
		r.look().AddTo(&r.report)
		o.asked = r.report.Wait().Value
	} else {
		o.asked = r.report.RetryAfter.Value
	}
	return o
}

// byDefault is the transport's own reading of an answer.
func (r *reader) byDefault(o *outcome) {
	status := o.resp.StatusCode
	if status < 400 {
		return
	}
	switch {
	case r.refusal(status):
		o.kind = refused
		if r.report.ShouldRetry == headers.Some(false) || r.look().Hopeless {
			o.kind = hopeless
		}
	case r.report.ShouldRetry == headers.Some(true):
		o.kind, o.safe = failed, true
	case r.report.ShouldRetry.Known:
	case status == http.StatusRequestTimeout, status >= 500 && status != http.StatusNotImplemented && status != http.StatusHTTPVersionNotSupported:
		o.kind = failed
	}
}

// told reports whether a status and the headers say "too many".
func (r *reader) told(status int) bool {
	switch status {
	case http.StatusTooManyRequests, statusOverloaded:
		return true
	case http.StatusServiceUnavailable, http.StatusTeapot: // a teapot is how Binance tells a ban
		return r.report.RetryAfter.Known
	case http.StatusForbidden:
		return r.report.RetryAfter.Known || r.exhausted()
	}
	return false
}

// refusal reports whether an answer, with all its signs, says "too many".
func (r *reader) refusal(status int) bool {
	switch {
	case r.told(status):
		return true
	case status == http.StatusForbidden:
		return r.secondary()
	case status == http.StatusBadRequest: // Linear
		return r.look().Throttled
	}
	return false
}

// look is what the body says, where there is one to look at.
func (r *reader) look() *headers.Body {
	if r.body == nil {
		r.body = new(headers.Body)
		if r.peek != nil {
			*r.body = headers.ParseBody(r.peek(), r.now)
		}
	}
	return r.body
}

// exhausted reports whether the answer says that a quota is used up.
func (r *reader) exhausted() bool {
	for _, q := range r.report.Quotas {
		if q.Unit != flightsUnit && q.Remaining == headers.Some(0.0) && (q.Reset.Known && q.Reset.Value > 0 || q.Limit.Value > 0) {
			return true
		}
	}
	return false
}

// secondary recognises a GitHub-style limit that only the body tells, and notes the wait that goes with it.
func (r *reader) secondary() bool {
	if !r.look().Throttled {
		return false
	}
	if !r.body.RetryAfter.Known {
		r.report.RetryAfter = headers.Some(secondaryHold)
	}
	return true
}

// isStream reports whether the body of resp is not to be looked at: events come when they come, and after a switch of protocols the body is
// the connection itself.
func isStream(resp *http.Response) bool {
	const events = "text/event-stream"
	kind := resp.Header.Get("Content-Type")
	return len(kind) >= len(events) && strings.EqualFold(kind[:len(events)], events) || resp.StatusCode == http.StatusSwitchingProtocols
}

// classifyError says what an attempt without an answer means. ctx is the caller's.
func classifyError(ctx context.Context, req *http.Request, err error) outcome {
	o := outcome{err: err, kind: failed}
	var dns *net.DNSError
	var dial *net.OpError
	switch {
	case ctx.Err() != nil, err == errNoResponse:
		o.kind = final
	case untrusted(err), malformed(req, err):
		o.kind, o.unsent = final, true
	case errors.As(err, &dns):
		o.safe, o.unsent = true, true
		if dns.IsNotFound {
			o.kind = final
		}
	case errors.As(err, &dial) && (dial.Op == "dial" || dial.Op == "proxyconnect"):
		o.safe, o.unsent = true, true
	case unprocessed(err):
		o.safe = true
	}
	return o
}

// malformed reports whether the request itself is what the base could not send: it never can. net/http has no types for these errors, so
// two of them are known by how their texts begin.
func malformed(req *http.Request, err error) bool {
	if req.URL.Host == "" || req.URL.Scheme != "http" && req.URL.Scheme != "https" {
		return true
	}
	text := err.Error()
	return strings.HasPrefix(text, "net/http: invalid ") || strings.HasPrefix(text, "http: ContentLength=")
}

// untrusted reports whether the server's certificate was refused: another attempt meets the same one.
func untrusted(err error) bool {
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var hostname x509.HostnameError
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &hostname)
}

// streamError has the shape of the HTTP/2 error of net/http, which lets itself be read by errors.As into any type of that shape.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string { return "stream error" }

// refusedStream is REFUSED_STREAM (RFC 9113, section 8.7): the server has not processed the request.
const refusedStream = 7

func unprocessed(err error) bool {
	var s streamError
	return errors.As(err, &s) && s.Code == refusedStream
}
