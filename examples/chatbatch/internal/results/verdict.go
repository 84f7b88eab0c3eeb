package results

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// Verdict is what a result line says about its request.
type Verdict uint8

// The verdicts. Undecided is the zero value.
const (
	Undecided Verdict = iota // no answer, or one that another try may change: sent again on resume
	Refused                  // refused for good: kept on resume unless failed ones are to be retried
	Answered                 // answered
)

// VerdictOf judges an HTTP status. Refusals that are about the account or the moment and not about the request stay undecided: a new key, a payment
// or patience changes them.
func VerdictOf(status int) Verdict {
	switch status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusProxyAuthRequired,
		http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return Undecided
	}
	switch {
	case status >= 200 && status <= 299:
		return Answered
	case status >= 400 && status <= 499:
		return Refused
	}
	return Undecided
}

// IsFailure tells an error object that stands where an answer should: some services send it with the status of a success.
func IsFailure(body []byte) bool {
	if !bytes.Contains(body, []byte(`"error"`)) {
		return false
	}
	var b struct {
		Error   any   `json:"error"`
		Choices []any `json:"choices"`
	}
	return json.Unmarshal(body, &b) == nil && b.Error != nil && len(b.Choices) == 0
}
