package budget

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// ParsePolicy reads the text form of a policy, which is also what String writes:
//
//	LIMIT [UNIT]/WINDOW [burst N] [ALGORITHM] [anchor TIME] [name NAME]
//
//	500/minute                          per second, minute, hour, day, week
//	200_000 tokens/min                  any unit, req and token too; numbers may be grouped by _ or by commas, or end in k or M
//	100/10s   100 per 5m   1000/7d      any window: a Go duration, or a number of days or weeks
//	10/second burst 20                  a token bucket
//	1000/day fixed-window anchor 2026-01-01T05:00:00Z
//	60/minute sliding-log name "free tier"
//	500 rpm   200k tpm                  requests or tokens per second, minute, hour or day
//
// Words are read in any case. A unit or a name with other characters than letters, digits and _-.:@+ stands in double quotes, as Go
// writes strings. The policy is validated.
func ParsePolicy(s string) (Policy, error) {
	r, err := read(s)
	if err != nil {
		return Policy{}, fmt.Errorf("budget: %q: %w", s, err)
	}
	var p Policy
	if err := p.parse(r); err != nil {
		return Policy{}, fmt.Errorf("budget: %q: %w", s, err)
	}
	if err := p.Validate(); err != nil {
		return Policy{}, err
	}
	return p, nil
}

var errForm = errors.New(`write it like "500/minute" or "200000 tokens/minute burst 1000"`)

func (p *Policy) parse(r *reader) (err error) {
	if p.Limit, err = parseAmount(r.next().text); err != nil {
		return err
	}
	if err := p.parseRate(r); err != nil {
		return err
	}
	said := map[string]bool{}
	for !r.done() {
		part, err := p.parseOption(r)
		if err != nil {
			return err
		}
		if said[part] {
			return fmt.Errorf("%s is said twice: leave one of them out", part)
		}
		said[part] = true
	}
	return nil
}

// parseRate reads what follows the limit: "tokens/minute", "/minute", "per minute" or "rpm".
func (p *Policy) parseRate(r *reader) (err error) {
	if unit, window, ok := shorthand(r.peek()); ok {
		r.next()
		p.Unit, p.Window = unit, window
		return nil
	}
	if !r.peek().isPer() {
		if r.done() {
			return fmt.Errorf("no window after the limit: %w", errForm)
		}
		p.Unit = r.next().unit()
	}
	if per := r.next(); !per.isPer() {
		return fmt.Errorf("%q stands where / or per should: %w", per.text, errForm)
	}
	p.Window, err = parseWindow(r)
	return err
}

// parseOption reads one of the parts that may follow the window, and says which.
func (p *Policy) parseOption(r *reader) (part string, err error) {
	first := r.next()
	switch part = strings.ToLower(first.bare()); part {
	case "burst":
		p.Burst, err = parseAmount(r.next().text)
	case "name":
		if r.done() {
			return "", errors.New("no word after name: add one, or leave name out")
		}
		p.Name = r.next().text
	case "anchor":
		p.Anchor, err = parseMoment(r.next().text)
	default:
		part = "the algorithm"
		p.Algorithm, err = first.algorithm()
	}
	return part, err
}

// shorthand reads the three letters that people write for requests and tokens per something.
func shorthand(w word) (unit string, window time.Duration, ok bool) {
	s := strings.ToLower(w.bare())
	if len(s) != 3 || s[1] != 'p' {
		return "", 0, false
	}
	unit, ok = map[byte]string{'r': Requests, 'q': Requests, 't': Tokens}[s[0]]
	window = map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': day}[s[2]]
	return unit, window, ok && window > 0
}
