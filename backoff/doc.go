// Package backoff says how long to step back after a failure.
package backoff
