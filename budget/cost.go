package budget

// Cost is what one call takes, by unit. A nil Cost is one request; a Cost without requests counts one request too (zero must be said).
// Units that nobody limits are ignored.
type Cost map[string]float64
