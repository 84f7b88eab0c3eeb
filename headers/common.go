package headers

// The quotas that make up nearly all traffic of AI services: no name, no window. A subject says which of them it is.
const (
	notPlain = iota
	plainRequests
	plainTokens
	plainInput
	plainOutput
	plains
)

var plainSubjects = [plains]subject{
	plainRequests: {unit: requests, plain: plainRequests},
	plainTokens:   {unit: tokens, plain: plainTokens},
	plainInput:    {unit: inputTokens, plain: plainInput},
	plainOutput:   {unit: outputTokens, plain: plainOutput},
}

// common tells the names of those headers by their whole text, without the general way's searching.
func common(name string) (f fact, plain uint8) {
	switch name {
	case "X-Ratelimit-Limit-Requests", "Anthropic-Ratelimit-Requests-Limit":
		return limitFact, plainRequests
	case "X-Ratelimit-Limit-Tokens", "Anthropic-Ratelimit-Tokens-Limit":
		return limitFact, plainTokens
	case "X-Ratelimit-Limit-Input-Tokens", "Anthropic-Ratelimit-Input-Tokens-Limit":
		return limitFact, plainInput
	case "X-Ratelimit-Limit-Output-Tokens", "Anthropic-Ratelimit-Output-Tokens-Limit":
		return limitFact, plainOutput
	case "X-Ratelimit-Remaining-Requests", "Anthropic-Ratelimit-Requests-Remaining":
		return remainingFact, plainRequests
	case "X-Ratelimit-Remaining-Tokens", "Anthropic-Ratelimit-Tokens-Remaining":
		return remainingFact, plainTokens
	case "X-Ratelimit-Remaining-Input-Tokens", "Anthropic-Ratelimit-Input-Tokens-Remaining":
		return remainingFact, plainInput
	case "X-Ratelimit-Remaining-Output-Tokens", "Anthropic-Ratelimit-Output-Tokens-Remaining":
		return remainingFact, plainOutput
	case "X-Ratelimit-Reset-Requests", "Anthropic-Ratelimit-Requests-Reset":
		return resetFact, plainRequests
	case "X-Ratelimit-Reset-Tokens", "Anthropic-Ratelimit-Tokens-Reset":
		return resetFact, plainTokens
	case "X-Ratelimit-Reset-Input-Tokens", "Anthropic-Ratelimit-Input-Tokens-Reset":
		return resetFact, plainInput
	case "X-Ratelimit-Reset-Output-Tokens", "Anthropic-Ratelimit-Output-Tokens-Reset":
		return resetFact, plainOutput
	}
	return noFact, notPlain
}

// entry is the quota that s speaks of. Where a plain one stands is remembered as long as the scan lasts, which only adds entries.
func (rd *reading) entry(s *subject) *Quota {
	if i := rd.plain[s.plain]; i > 0 {
		return &rd.report.Quotas[i-1]
	}
	i := rd.report.index(s.unit, s.name, "", s.window)
	if i < 0 {
		return nil
	}
	if s.plain != notPlain {
		rd.plain[s.plain] = uint8(i + 1)
	}
	return &rd.report.Quotas[i]
}
