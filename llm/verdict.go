package llm

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/seed-18ca0a92/throttle"
)

// Verdict judges an answer by the code in its body, for throttle.WithVerdict. No waiting heals an empty account or a quota of the day; an overloaded
// model has not processed the call, whatever the status. Everything else is left to the transport.
func Verdict(resp *http.Response, peek func() []byte) throttle.Verdict {
	if resp.StatusCode < 400 || peek == nil {
		return throttle.ByDefault
	}
	reason := readReason(peek())
	switch {
	case reason.hopeless():
		return throttle.Hopeless
	case resp.StatusCode >= 429 && reason.overloaded():
		return throttle.Refused
	}
	return throttle.ByDefault
}

// reason is what an error body says: OpenAI, Azure and Mistral have type and code, Anthropic type, Gemini status and details.
type reason struct {
	Type    string          `json:"type"`
	Code    json.RawMessage `json:"code"` // a word at OpenAI, a number at Gemini
	Status  string          `json:"status"`
	Message string          `json:"message"`
	Details []struct {
		Violations []struct {
			QuotaID string `json:"quotaId"`
		} `json:"violations"`
	} `json:"details"`
}

// readReason reads the error object of a body, or the body itself where there is none (Mistral). Gemini's OpenAI face puts it into a list.
func readReason(body []byte) reason {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer struct {
		reason
		Error *reason `json:"error"`
	}
	_ = json.Unmarshal(body, &outer) // a body of another shape has no reason
	if outer.Error != nil {
		return *outer.Error
	}
	return outer.reason
}

func (r reason) code() string { return strings.Trim(string(r.Code), `"`) }

func (r reason) hopeless() bool {
	for _, word := range []string{r.Type, r.code()} {
		switch word {
		case "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error", "access_terminated", "insufficient_balance":
			return true
		}
	}
	return r.daily() || strings.Contains(r.Message, "credit balance is too low") // Anthropic's has no code of its own
}

// daily recognises a quota that comes back tomorrow.
func (r reason) daily() bool {
	for _, d := range r.Details {
		for _, v := range d.Violations {
			if strings.Contains(v.QuotaID, "PerDay") {
				return true
			}
		}
	}
	return false
}

func (r reason) overloaded() bool {
	for _, word := range []string{r.Type, r.code()} {
		switch word {
		case "overloaded_error", "overloaded", "server_overloaded", "service_tier_capacity_exceeded", "engine_overloaded":
			return true
		}
	}
	return r.Status == "UNAVAILABLE" || strings.Contains(r.Message, "currently overloaded")
}
