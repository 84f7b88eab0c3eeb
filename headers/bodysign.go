package headers

import (
	"encoding/json"
	"strings"
	"time"
)

// sign is what a word or a phrase in an error means.
type sign struct {
	text     string // lower case
	hopeless bool
}

// codes are the codes, types and statuses that mean a limit was hit, compared whole and without case.
var codes = [...]sign{
	{text: "rate_limited"},        // GitHub GraphQL
	{text: "rate_limit"},          // GitHub GraphQL, secondary
	{text: "ratelimited"},         // Linear
	{text: "throttled"},           // Shopify
	{text: "rate_limit_exceeded"}, // OpenAI
	{text: "rate_limit_error"},    // Anthropic
	{text: "overloaded_error"},    // Anthropic
	{text: "resource_exhausted"},  // Google
	{text: "too_many_requests"},
	{text: "toomanyrequests"},
	{text: "toomanyrequestsexception"}, // AWS
	{text: "throttlingexception"},
	{text: "requestlimitexceeded"},
	{text: "maxlag"}, // MediaWiki
	{text: "429"},
	{text: "20429"},                              // Twilio
	{text: "insufficient_quota", hopeless: true}, // OpenAI: a payment, not patience
	{text: "billing_hard_limit_reached", hopeless: true},
	{text: "billing_not_active", hopeless: true},
}

// phrases are the parts of messages that mean a limit was hit.
var phrases = [...]sign{
	{text: "secondary rate limit"},        // GitHub
	{text: "abuse detection"},             // GitHub, before 2022
	{text: "rate limit exceeded"},         // GitHub, Kraken (EAPI:Rate limit exceeded), OpenRouter
	{text: "being rate limited"},          // Discord
	{text: "request was throttled"},       // Django REST framework
	{text: "too many requests"},           // Telegram, Spotify
	{text: "exceeded your current quota"}, // Google says so of a minute's quota; OpenAI means the money, and has a code for it
}

// signs looks for the words of a refusal in the places where an error has them.
func (b *Body) signs(e *bodyError) {
	for _, word := range [...]string{plainText(e.Code), plainText(e.ErrorCode), e.Type, e.AWSType, plainText(e.Status), plainText(e.Extensions.Code)} {
		word = word[strings.LastIndexByte(word, '#')+1:] // AWS: com.amazon.coral.service#ThrottlingException
		for i := range codes {
			if strings.EqualFold(word, codes[i].text) {
				b.note(&codes[i])
			}
		}
	}
	for _, text := range e.texts() {
		text = strings.ToLower(text)
		for i := range phrases {
			if strings.Contains(text, phrases[i].text) {
				b.note(&phrases[i])
			}
		}
	}
}

func (b *Body) note(s *sign) {
	b.Throttled = true
	b.Hopeless = b.Hopeless || s.hopeless
}

// plainText is a JSON number or text without its quotes.
func plainText(raw json.RawMessage) string { return strings.Trim(string(raw), `"`) }

// quotaPerDay reports whether Google's id of a quota is one that only the next day restores. The RetryInfo beside it names a
// minute all the same.
func quotaPerDay(id string) bool { return strings.Contains(id, "PerDay") }

// leads come before a wait in the messages of AI services.
var leads = [...]string{"try again in ", "retry in ", "retry after ", "available in ", "wait "}

// waitInText finds a wait in a message: "Please try again in 6m0s.", "Please retry after 12 seconds."
func waitInText(message string) Maybe[time.Duration] {
	message = strings.ToLower(message)
	for _, lead := range leads {
		_, rest, ok := strings.Cut(message, lead)
		if !ok {
			continue
		}
		value, rest, _ := strings.Cut(rest, " ")
		if d, _, ok := parseDuration(strings.TrimRight(value, ".,;:!)")); ok {
			return Some(d)
		}
		unit, _, _ := strings.Cut(rest, " ")
		n, ok := parseDecimal(value)
		if d, ok2 := n.times(unitWord(unit)); ok && ok2 && unitWord(unit) > 0 {
			return Some(d)
		}
	}
	return Maybe[time.Duration]{}
}

// unitWord is the length of a unit spelled out, 0 for any other word.
func unitWord(word string) time.Duration {
	switch strings.TrimSuffix(strings.TrimRight(word, ".,;:!)"), "s") {
	case "millisecond", "m": // "ms" without its s
		return time.Millisecond
	case "second", "sec":
		return time.Second
	case "minute", "min":
		return time.Minute
	case "hour":
		return time.Hour
	case "day":
		return day
	}
	return 0
}
