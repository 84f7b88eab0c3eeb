package headers

import (
	"strings"
	"time"
)

// prefix is a family of names that carry what they count: X-RateLimit-Limit-Tokens, anthropic-ratelimit-tokens-limit.
type prefix struct {
	text string // in the spelling of net/http
	// named: the next word is the quota's name, as in anthropic-priority-tokens-limit.
	named bool
	// unit, where the names do not say it; then all that a name says is the quota's name, after the word in name.
	unit, name string
	// valued: the rest is the quota's name, and the value holds all of its facts.
	valued bool
}

// prefixes are the families, the busiest first and the longer before the shorter. They never change.
var prefixes = [...]prefix{
	{text: "X-Ratelimit-"},
	{text: "Anthropic-Ratelimit-Unified-", unit: "utilization", name: "unified-"}, // share of a subscription that is used
	{text: "Anthropic-Ratelimit-"},
	{text: "Ratelimit-"},
	{text: "X-Rate-Limit-"},
	{text: "Anthropic-", named: true}, // anthropic-priority-*, anthropic-fast-*
	{text: "X-Ms-Ratelimit-"},         // Azure Resource Manager
	{text: "Zendesk-Ratelimit-", valued: true},
}

// fact is what a header says about its quota.
type fact uint8

const (
	noFact fact = iota
	limitFact
	remainingFact
	resetFact
)

// subject is what a qualified header speaks of.
type subject struct {
	unit, name string
	window     Maybe[time.Duration]
	plain      uint8 // which of the plain ones it is; notPlain = none
}

// qualified reads a header that names its quota in its own name, if it is one.
func (rd *reading) qualified(name string, lines []string) {
	p, rest := prefixOf(name)
	switch {
	case p == nil:
	case p.valued:
		rd.zendesk(rest, lines)
	default:
		if f, s := p.subject(rest); f != noFact {
			rd.quantity(f, &s, lines)
		}
	}
}

// prefixOf is the family of a name and what comes after its prefix, nil if it is of none.
func prefixOf(name string) (p *prefix, rest string) {
	for i := range prefixes {
		if rest, ok := strings.CutPrefix(name, prefixes[i].text); ok {
			return &prefixes[i], rest
		}
	}
	return nil, ""
}

// factOf splits Limit-Tokens or Tokens-Limit into the fact and what it is about. There is none where nothing is qualified
// (Limit), nor where either reading is possible (Limit-Remaining).
func factOf(s string) (f fact, what string) {
	switch {
	case strings.HasPrefix(s, "Limit-"):
		f, what = limitFact, s[len("Limit-"):]
	case strings.HasPrefix(s, "Remaining-"):
		f, what = remainingFact, s[len("Remaining-"):]
	case strings.HasPrefix(s, "Reset-"):
		f, what = resetFact, s[len("Reset-"):]
	case strings.HasSuffix(s, "-Limit"):
		f, what = limitFact, s[:len(s)-len("-Limit")]
	case strings.HasSuffix(s, "-Remaining"):
		f, what = remainingFact, s[:len(s)-len("-Remaining")]
	case strings.HasSuffix(s, "-Reset"):
		f, what = resetFact, s[:len(s)-len("-Reset")]
	}
	switch what {
	case "", "Limit", "Remaining", "Reset", "After":
		return noFact, ""
	}
	return f, what
}

// quantity adds one fact to the quota it speaks of, if a line holds one.
func (rd *reading) quantity(f fact, s *subject, lines []string) {
	if f == resetFact {
		rd.latest(s, lines)
		return
	}
	n := leastCount(lines)
	if !n.Known {
		return
	}
	q := rd.entry(s)
	switch {
	case q == nil:
	case f == limitFact:
		lower(&q.Limit, n.Value)
	default:
		lower(&q.Remaining, n.Value)
	}
}

// latest is quantity for a reset.
func (rd *reading) latest(s *subject, lines []string) {
	for _, line := range lines {
		d, grain, ok := rd.resetOf(trim(line))
		if !ok {
			continue
		}
		if q := rd.entry(s); q != nil {
			q.delay(d, grain)
		}
	}
}

// subject is which fact the words after the prefix tell, and of what.
func (p *prefix) subject(rest string) (f fact, s subject) {
	var word string
	if p.named {
		word, rest, _ = strings.Cut(rest, "-")
	}
	f, what := factOf(rest)
	if f == noFact {
		return noFact, s
	}
	if p.unit != "" {
		span := strings.ToLower(what)
		s = subject{unit: p.unit, name: p.name + span}
		if d, _, ok := parseDuration(span); ok { // "5h", "7d"
			s.window = Some(d)
		}
		return f, s
	}
	s = subjectOf(what)
	if p.named {
		s.name = strings.ToLower(word)
	}
	return f, s
}

// subjectOf reads a qualifier from its end: a window, then a unit; what is left is a name. Without a unit it is requests.
//
//	Tokens               tokens
//	Project-Tokens       tokens "project"
//	Tokens_usage_based   tokens "usage_based"
//	Req-Minute           requests per minute
//	Api-Token            requests "api-token": no unit, but a name that ends like one
func subjectOf(what string) subject {
	window, what := cutWindow(what)
	unit, what := cutUnit(what)
	return subject{unit: unit, name: strings.ToLower(what), window: window}
}

// cutWindow takes the window off the end of a qualifier, with a "per" before it.
func cutWindow(what string) (w Maybe[time.Duration], rest string) {
	i := strings.LastIndexByte(what, '-')
	switch what[i+1:] {
	case "Second":
		w = Some(time.Second)
	case "Minute":
		w = Some(time.Minute)
	case "Hour":
		w = Some(time.Hour)
	case "Day":
		w = Some(24 * time.Hour)
	default:
		return w, what
	}
	rest = strings.TrimSuffix(what[:max(i, 0)], "-Per")
	if rest == "Per" {
		rest = ""
	}
	return w, rest
}

// unitWords are the words for units in the names of headers, the longer before the shorter.
var unitWords = [...]struct{ word, unit string }{
	{"Input-Tokens", inputTokens},
	{"Input_tokens", inputTokens},
	{"Output-Tokens", outputTokens},
	{"Output_tokens", outputTokens},
	{"Requests", requests},
	{"Req", requests},
	{"Tokens", tokens},
	{"Complexity", "complexity"}, // Linear, of GraphQL queries
}

// cutUnit takes the unit off the end of a qualifier, or off its start.
func cutUnit(what string) (unit, rest string) {
	for _, u := range unitWords {
		rest, ok := strings.CutSuffix(what, u.word)
		if ok && rest == "" {
			return u.unit, ""
		}
		if ok && strings.HasSuffix(rest, "-") {
			return u.unit, rest[:len(rest)-1]
		}
	}
	for _, u := range unitWords {
		rest, ok := strings.CutPrefix(what, u.word)
		if ok && (rest[0] == '_' || rest[0] == '-') {
			return u.unit, rest[1:]
		}
	}
	return requests, what
}
