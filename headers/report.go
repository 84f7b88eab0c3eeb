package headers

import "time"

// Maybe is a number that a server may or may not have stated. Its zero value is "unknown", which is never the same as zero.
type Maybe[T any] struct {
	Value T
	Known bool
}

// Some is a known value.
func Some[T any](v T) Maybe[T] { return Maybe[T]{Value: v, Known: true} }

// Quota is what one answer said about one limit. Its zero value says nothing.
type Quota struct {
	// Unit is what is counted: "requests", "tokens", "input_tokens", "output_tokens" or a word of the server's.
	Unit string
	// Name tells quotas of one unit apart ("usage_based", "search"); most servers give none.
	Name string

	// Limit is how many units fit into a window, Remaining how many were left when the server answered. Neither is negative.
	Limit, Remaining Maybe[float64]
	// Reset is the time from the answer until something is given back; what that is (the whole window, one unit, a full
	// bucket) differs between servers. Window is the length the limit is counted over. Neither is negative nor above 366 days.
	Reset, Window Maybe[time.Duration]

	// Grain is how coarse Reset is: the true moment lies within Reset ± Grain. Zero for resets told to the millisecond or finer,
	// 1 s for whole seconds, 2 s for a whole-second moment less a whole-second Date.
	Grain time.Duration
}

// Report is what one answer said. Its zero value is an answer that said nothing.
type Report struct {
	// RetryAfter is the wait that the server asked for, from now. Never negative, never above 366 days.
	RetryAfter Maybe[time.Duration]
	// ShouldRetry is the x-should-retry header of some AI services: the server's own verdict on whether to repeat the call.
	ShouldRetry Maybe[bool]
	// Quotas holds at most one entry for each (unit, name, window), in no particular order.
	Quotas []Quota
}
