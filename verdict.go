package throttle

// Verdict is what a user's function says of an answer.
type Verdict uint8

// The verdicts. The zero value leaves the decision to the transport.
const (
	ByDefault Verdict = iota // the transport's own rules
	Accepted                 // an answer like any other, whatever its status
	Refused                  // refused for rate: wait, then repeat
	Hopeless                 // refused for a reason that waiting does not heal: hand it out at once
)

var verdictNames = [...]string{"by default", "accepted", "refused", "hopeless"}

// String is the verdict in words.
func (v Verdict) String() string { return nameOf(verdictNames[:], uint8(v)) }

// MarshalText is the verdict in words.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }
