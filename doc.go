// Package throttle is an http.RoundTripper that uses the whole quota of a rate-limited API and is not refused.
//
// Wrap the client once. From then on every request waits its turn, the limits that the server announces are learned from its answers,
// and a refusal pauses everybody it concerns instead of being hammered:
//
//	client, err := throttle.NewClient(throttle.WithPolicies(budget.PerMinute(500)))
//	if err != nil {
//		return err
//	}
//	resp, err := client.Get("https://api.example.com/v1/items")
//
// Nothing needs to be declared: with no policy the server's own headers are the limit. Policies that are declared, and limits
// that are announced, must all agree before a call leaves.
//
// The words: an attempt counts from 1 and includes the first; a retry is every later one. A wait is what this package chooses, a hold is
// what the server, or its refusal, imposes, a backoff is what a failed call takes before its next attempt. A policy declares a
// limit; a budget is its running state; a key names whose quota it is; a cost is what one call takes.
package throttle
