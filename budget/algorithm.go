package budget

import (
	"fmt"
	"strings"
)

// Algorithm is a way to count. Its text form is what String returns.
type Algorithm uint8

// The algorithms. With limit L per window W, and so a rate r = L/W:
const (
	// Auto, the zero value, is for a policy that says what an API documents, not how its server counts. With a Burst it is
	// a TokenBucket. Without one it is a SlidingLog, whose guarantee holds at a window, a log and a bucket alike.
	Auto Algorithm = iota
	// TokenBucket lets at most Burst + r·t into any span t; after a rest, that is Burst + L in the first window.
	TokenBucket
	// LeakyBucket spaces evenly: n units are followed by a gap of n/r, whatever the rest before them.
	LeakyBucket
	// FixedWindow lets at most L into each window counted from Anchor, and so up to 2·L into a span W around an edge.
	FixedWindow
	// SlidingLog lets at most L into any span W.
	SlidingLog
	// SlidingCounter estimates the log from two fixed windows: at most L in each of them, less than 2·L in any span W.
	SlidingCounter
)

var algorithmNames = [...]string{"auto", "token-bucket", "leaky-bucket", "fixed-window", "sliding-log", "sliding-counter"}

// String is the name of the algorithm: lower case, with a hyphen between words.
func (a Algorithm) String() string {
	if int(a) < len(algorithmNames) {
		return algorithmNames[a]
	}
	return fmt.Sprintf("Algorithm(%d)", uint8(a))
}

// ParseAlgorithm reads a name, in any case and with or without hyphens or underscores: "fixed-window", "FixedWindow".
func ParseAlgorithm(s string) (Algorithm, error) {
	if a, ok := algorithmNamed(s); ok {
		return a, nil
	}
	return 0, fmt.Errorf("budget: %q is no algorithm: use one of %s", s, strings.Join(algorithmNames[:], ", "))
}

func algorithmNamed(s string) (Algorithm, bool) {
	plain := strings.NewReplacer("-", "", "_", "")
	for i, name := range algorithmNames {
		if strings.EqualFold(plain.Replace(s), plain.Replace(name)) {
			return Algorithm(i), true
		}
	}
	return 0, false
}

// MarshalText is String; it fails for what is no algorithm.
func (a Algorithm) MarshalText() ([]byte, error) {
	if int(a) >= len(algorithmNames) {
		return nil, fmt.Errorf("budget: %v is no algorithm: use one of %s", a, strings.Join(algorithmNames[:], ", "))
	}
	return []byte(a.String()), nil
}

// UnmarshalText is ParseAlgorithm.
func (a *Algorithm) UnmarshalText(text []byte) error {
	parsed, err := ParseAlgorithm(string(text))
	if err == nil {
		*a = parsed
	}
	return err
}
