package budget

import (
	"strconv"
	"strings"
	"time"
)

// String is the text form of the policy, described at ParsePolicy. It writes down a policy that Validate refuses as well as it can.
func (p Policy) String() string {
	var s strings.Builder
	s.WriteString(formatAmount(p.Limit))
	if p.Unit != "" {
		s.WriteString(" " + quotedUnit(p.Unit))
	}
	s.WriteString("/" + formatWindow(p.Window))
	if p.Burst != 0 {
		s.WriteString(" burst " + formatAmount(p.Burst))
	}
	if p.Algorithm != Auto {
		s.WriteString(" " + p.Algorithm.String())
	}
	if !p.Anchor.IsZero() {
		s.WriteString(" anchor " + p.Anchor.UTC().Format(time.RFC3339Nano))
	}
	if p.Name != "" {
		s.WriteString(" name " + quoted(p.Name))
	}
	return s.String()
}

// MarshalText is String; it fails with the error of Validate.
func (p Policy) MarshalText() ([]byte, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return []byte(p.String()), nil
}

// UnmarshalText is ParsePolicy.
func (p *Policy) UnmarshalText(text []byte) error {
	parsed, err := ParsePolicy(string(text))
	if err == nil {
		*p = parsed
	}
	return err
}

func formatAmount(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// formatWindow writes the windows that have a name by it, whole days as such, and all else as Go writes durations, without the
// zeros at the end: "minute", "7d", "1h30m".
func formatWindow(d time.Duration) string {
	switch {
	case d == time.Second:
		return "second"
	case d == time.Minute:
		return "minute"
	case d == time.Hour:
		return "hour"
	case d == day:
		return "day"
	case d > 0 && d%day == 0:
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// quotedUnit is quoted, also for words that mean something where a unit stands.
func quotedUnit(unit string) string {
	w := word{text: unit}
	if _, _, short := shorthand(w); short || w.isPer() || w.unit() != unit {
		return strconv.Quote(unit)
	}
	return quoted(unit)
}

// quoted is a word as it is, or in quotes if it could not be read back otherwise.
func quoted(word string) string {
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plainRune(r) }) < 0 {
		return word
	}
	return strconv.Quote(word)
}

// plainRune says whether r may stand in a word without quotes. What is left out has a meaning of its own, or looks like it.
func plainRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-.:@+", r)
}
