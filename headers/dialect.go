package headers

// Dialect is a family of header names and of ways to write a moment, as one kind of server uses them. Parse reads them all and
// asks for none.
type Dialect uint8

// The dialects that Write speaks.
const (
	XRateLimit      Dialect = iota // X-RateLimit-Limit, -Remaining, -Reset; reset in seconds from now
	XRateLimitEpoch                // the same, reset as Unix time in seconds
	XRateLimitMilli                // the same, reset as Unix time in milliseconds
	RateLimitTrio                  // RateLimit-Limit, -Remaining, -Reset and RateLimit-Policy (IETF draft 03 to 06)
	RateLimitDict                  // RateLimit: limit=, remaining=, reset= and RateLimit-Policy (IETF draft 07)
	RateLimitList                  // RateLimit: "name";r=;t= and RateLimit-Policy: "name";q=;w= (IETF draft 08 and later)
	OpenAI                         // x-ratelimit-limit-requests and so on; resets as durations such as 6m0s
	Anthropic                      // anthropic-ratelimit-requests-limit and so on; resets as RFC 3339 moments
	GitHub                         // X-RateLimit-* with an epoch reset, -Used and -Resource
	Discord                        // X-RateLimit-* with fractional epoch reset, -Reset-After and -Bucket
)
