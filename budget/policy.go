package budget

import "time"

// Units that servers count. Any other word is a unit too.
const (
	Requests     = "requests"
	Tokens       = "tokens"
	InputTokens  = "input_tokens"
	OutputTokens = "output_tokens"
)

// Algorithm is a way to count.
type Algorithm uint8

// The algorithms. Auto is the zero value.
const (
	Auto Algorithm = iota
	TokenBucket
	LeakyBucket
	FixedWindow
	SlidingLog
	SlidingCounter
)

// Policy declares a limit and how it is counted. It is comparable.
type Policy struct {
	Name, Unit string
	Limit      float64
	Window     time.Duration
	Burst      float64
	Algorithm  Algorithm
	Anchor     time.Time
}
