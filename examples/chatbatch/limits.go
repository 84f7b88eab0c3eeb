package main

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// dailyRequests is the unit of -rpd. It is one of its own since the past day's requests are booked before the job begins, which must not
// touch the limit per minute.
const dailyRequests = "daily_requests"

// limitFlags collects -limit.
type limitFlags []modelLimit

// modelLimit is a policy for one model, or for every model that has none of its own for that unit.
type modelLimit struct {
	model  string
	policy budget.Policy
}

// String is what flag prints.
func (l *limitFlags) String() string { return "" }

// Set reads "500/minute" or "model=500/minute".
func (l *limitFlags) Set(text string) error {
	model, rest := "", text
	if i := strings.LastIndex(text, "="); i >= 0 {
		model, rest = strings.TrimSpace(text[:i]), text[i+1:]
		if model == "" {
			return errors.New("no model stands before the =")
		}
	}
	policy, err := budget.ParsePolicy(strings.TrimSpace(rest))
	if err != nil {
		return err
	}
	*l = append(*l, modelLimit{model, policy})
	return nil
}

// policiesOf is what limits a model: the general limits, but of a unit for which the model has its own only those; and the daily one.
func (s *settings) policiesOf(model string) []budget.Policy {
	own := map[string]bool{}
	var all []budget.Policy
	for _, l := range s.limits {
		if l.model == model && model != "" {
			own[l.policy.Resolve().Unit] = true
			all = append(all, l.policy)
		}
	}
	for _, p := range s.general() {
		if !own[p.Resolve().Unit] {
			all = append(all, p)
		}
	}
	if s.rpd > 0 {
		all = append(all, budget.PerDay(s.rpd).Of(dailyRequests))
	}
	return all
}

// limited tells whether any limit is declared.
func (s *settings) limited() bool { return s.rpm > 0 || s.tpm > 0 || s.rpd > 0 || len(s.limits) > 0 }

func (s *settings) general() (all []budget.Policy) {
	if s.rpm > 0 {
		all = append(all, budget.PerMinute(s.rpm))
	}
	if s.tpm > 0 {
		all = append(all, budget.PerMinute(s.tpm).Of(budget.Tokens))
	}
	for _, l := range s.limits {
		if l.model == "" {
			all = append(all, l.policy)
		}
	}
	return all
}

// policyFunc is policiesOf by the key, which ends in the model.
func (s *settings) policyFunc(key string, _ *http.Request) ([]budget.Policy, error) {
	_, model, _ := strings.Cut(key, " ")
	return s.policiesOf(model), nil
}

// checkLimits finds limits that no budget can be made of before anything is sent.
func (s *settings) checkLimits() error {
	for _, model := range append([]string{""}, slices.Sorted(maps.Keys(s.limitedModels()))...) {
		for _, p := range s.policiesOf(model) {
			if _, err := budget.New(p); err != nil {
				return fmt.Errorf("limit %v: %w", p, err)
			}
			if p.Resolve().Unit == budget.Requests && p.Spacing() > maxHold {
				return fmt.Errorf("limit %v lets one request leave every %v, which is longer than a job sleeps (%v); use -rpd for a day's requests", p, p.Spacing(), maxHold)
			}
		}
	}
	return nil
}

// limitedModels are those that have a -limit of their own.
func (s *settings) limitedModels() map[string]bool {
	names := map[string]bool{}
	for _, l := range s.limits {
		if l.model != "" {
			names[l.model] = true
		}
	}
	return names
}

// warnOfLimits names the models of -limit that no request asks for: most likely it is misspelt, and the right one has no limit.
func (b *batch) warnOfLimits() {
	for _, model := range slices.Sorted(maps.Keys(b.census.unmet)) {
		fmt.Fprintf(b.world.stderr, "%s: warning: -limit %q: no request is for that model\n", b.in.name, cut(model, maxID))
	}
}

// floor is the least time in which an amount passes a limit: a whole window's worth leaves at once, the rest as it comes back.
func floor(amount, limit float64, window time.Duration) time.Duration {
	if limit <= 0 || amount <= limit {
		return 0
	}
	return time.Duration((amount - limit) / limit * float64(window))
}
