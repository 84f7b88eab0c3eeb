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
//	200_000 tokens/min                  any unit; numbers may be grouped by _ or by commas, or end in k or M
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
	return p, p.Validate()
}

var errForm = errors.New(`write it like "500/minute" or "200000 tokens/minute burst 1000"`)

func (p *Policy) parse(r *reader) (err error) {
	if p.Limit, err = parseAmount(r.next().text); err != nil {
		return err
	}
	if err := p.parseRate(r); err != nil {
		return err
	}
	for !r.done() {
		if err := p.parseOption(r); err != nil {
			return err
		}
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
		p.Unit = r.next().text
	}
	if per := r.next(); !per.isPer() {
		return fmt.Errorf("%q stands where / or per should: %w", per.text, errForm)
	}
	p.Window, err = parseWindow(r)
	return err
}

// parseOption reads one of the parts that may follow the window.
func (p *Policy) parseOption(r *reader) (err error) {
	word := r.next()
	switch strings.ToLower(word.bare()) {
	case "burst":
		p.Burst, err = parseAmount(r.next().text)
	case "name":
		p.Name = r.next().text
	case "anchor":
		p.Anchor, err = time.Parse(time.RFC3339, r.next().text)
	default:
		algorithm, known := algorithmNamed(word.bare())
		if !known {
			return fmt.Errorf("%q is neither burst, anchor, name nor an algorithm (%s)", word.text, strings.Join(algorithmNames[:], ", "))
		}
		p.Algorithm = algorithm
	}
	return err
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
