package headers

// slot is the place of a header that must be seen together with others.
type slot uint8

// The three families of unqualified names. Where they contradict each other, the earlier one is believed.
const (
	ietf    slot = iota // RateLimit-Limit and so on
	xJoined             // X-RateLimit-Limit
	xHyphen             // X-Rate-Limit-Limit
	families
)

// The slots of a family lie families apart: slotLimit+ietf, slotLimit+xJoined and so on.
const (
	slotLimit      = 0 * families
	slotRemaining  = 1 * families
	slotReset      = 2 * families
	slotResetAfter = 3 * families // a second reset, measured from now: beats the first
)

// ofFamily are the slots of the first family, and shifted by f those of family f.
const ofFamily = 1<<slotLimit | 1<<slotRemaining | 1<<slotReset | 1<<slotResetAfter

const (
	slotRateLimit = 4*families + iota // the structured fields
	slotPolicy
	slotUsed
	slotPeriod
	slotBurst
	slotBucket // from here on: the name of the unqualified quota, the best source first
	slotResource
	slotName
	slotIETFName
	slotEndpointName
	slotFromCache
	slotRetryAfter
	slotRetryAfterX
	slotMilli
	slotMicrosoftMilli
	slotShouldRetry
	slotNothing // an everyday header that the gate lets through: known, so that nobody looks at it twice
	slots       // how many there are; a place above is slots + the index of a vendor
)

// waits are the slots that say when to come back, not how much is left.
const waits = 1<<slotRetryAfter | 1<<slotRetryAfterX | 1<<slotMilli | 1<<slotMicrosoftMilli | 1<<slotShouldRetry

// places are the headers that can be told by their whole name, in the spelling of net/http. It never changes.
var places = newPlaces()

func newPlaces() map[string]slot {
	m := slotNames()
	for i := range vendors {
		for _, mark := range vendors[i].marks {
			m[mark] = slots + slot(i)
		}
	}
	return m
}

func slotNames() map[string]slot {
	return map[string]slot{
		"Ratelimit-Limit":          slotLimit + ietf,
		"X-Ratelimit-Limit":        slotLimit + xJoined,
		"X-Rate-Limit-Limit":       slotLimit + xHyphen,
		"X-Rate-Limit":             slotLimit + xHyphen,
		"Ratelimit-Remaining":      slotRemaining + ietf,
		"X-Ratelimit-Remaining":    slotRemaining + xJoined,
		"X-Rate-Limit-Remaining":   slotRemaining + xHyphen,
		"Ratelimit-Reset":          slotReset + ietf,
		"X-Ratelimit-Reset":        slotReset + xJoined,
		"X-Rate-Limit-Reset":       slotReset + xHyphen,
		"Ratelimit-Reset-After":    slotResetAfter + ietf,
		"X-Ratelimit-Reset-After":  slotResetAfter + xJoined,
		"X-Rate-Limit-Reset-After": slotResetAfter + xHyphen,

		"Ratelimit":             slotRateLimit,
		"Ratelimit-Policy":      slotPolicy,
		"Beta-Ratelimit":        slotRateLimit, // Jira, until its fields leave beta
		"Beta-Ratelimit-Policy": slotPolicy,

		"X-Ratelimit-Used":           slotUsed,
		"X-Ratelimit-Period":         slotPeriod,
		"X-Rate-Limit-Interval":      slotPeriod, // Crossref
		"X-Ratelimit-Burst-Capacity": slotBurst,
		"X-Ratelimit-Bucket":         slotBucket,
		"X-Ratelimit-Resource":       slotResource,
		"X-Ratelimit-Name":           slotName,
		"Ratelimit-Name":             slotIETFName,
		"X-Ratelimit-Endpoint-Name":  slotEndpointName,
		"X-From-Cache":               slotFromCache, // set by caching transports

		"Retry-After":             slotRetryAfter,
		"X-Ratelimit-Retry-After": slotRetryAfterX,
		"Retry-After-Ms":          slotMilli,
		"X-Ms-Retry-After-Ms":     slotMicrosoftMilli,
		"X-Should-Retry":          slotShouldRetry,

		"X-Content-Type-Options":    slotNothing,
		"X-Frame-Options":           slotNothing,
		"X-Amz-Cf-Id":               slotNothing,
		"X-Amz-Cf-Pop":              slotNothing,
		"X-Amzn-Requestid":          slotNothing,
		"X-Ms-Request-Id":           slotNothing,
		"X-Ms-Client-Request-Id":    slotNothing,
		"X-Ms-Region":               slotNothing,
		"X-Ratelimit-Scope":         slotNothing,
		"X-Served-By":               slotNothing,
		"X-Trace-Id":                slotNothing,
		"Anthropic-Organization-Id": slotNothing,
	}
}
