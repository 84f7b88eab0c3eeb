package throttletest

import (
	"fmt"
	"net/http"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// config is an upstream as it was ordered. It does not change.
type config struct {
	resources []resource // the last one takes whatever no other wants
	announces []Announce
	hint      Hint
	hintRound Rounding
	refusal   int
	latency   Latency
	output    tokens
	skew      time.Duration
	seed      uint64
	outages   []Outage
	ban       Ban
	foreign   *Foreign
	charge    Charge
	cost      func(*http.Request, []byte) budget.Cost
	answer    func(*http.Request, []byte) []byte
	key       func(*http.Request) string
	faults    func(int, *http.Request) *Fault
	logged    int
}

// resource is a part of the API with limits of its own.
type resource struct {
	name   string
	match  func(*http.Request) bool
	limits []Limit
}

// tokens is the distribution of the length of an answer.
type tokens struct{ mean, sigma float64 }

// defaults: answers of 16 tokens, every one the same; a log of a million arrivals (about 200 MB when full).
func defaults() *config {
	return &config{
		resources: []resource{{}},
		refusal:   http.StatusTooManyRequests,
		output:    tokens{mean: 16},
		key:       func(*http.Request) string { return "" },
		logged:    1 << 20,
	}
}

// resourceOf is the index of the resource that the request belongs to.
func (c *config) resourceOf(r *http.Request) int {
	last := len(c.resources) - 1
	for i, res := range c.resources[:last] {
		if res.match(r) {
			return i
		}
	}
	return last
}

func errorf(format string, args ...any) error {
	return fmt.Errorf("throttletest: "+format, args...)
}

func notNegative(what string, ds ...time.Duration) error {
	for _, d := range ds {
		if d < 0 {
			return errorf("%s: %v is negative", what, d)
		}
	}
	return nil
}

func isShare(x float64) bool { return x >= 0 && x <= 1 }

func isStatus(code int) bool { return code >= 200 && code <= 599 }
