package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/seed-18ca0a92/throttle/budget"
)

// tier is what its customers may do with each of their models.
type tier struct {
	PerMinute float64  `json:"per_minute"` // requests
	PerDay    float64  `json:"per_day"`    // requests
	Burst     float64  `json:"burst"`      // requests at once, after a rest
	Models    []string `json:"models"`
}

// plan is the file: the tiers, and who is in which.
type plan struct {
	Tiers     map[string]tier   `json:"tiers"`
	Customers map[string]string `json:"customers"`
}

var (
	errStranger = errors.New("no such customer")
	errModel    = errors.New("model not in your tier")
)

// readPlan reads a file of tiers. What is wrong with it is told here, not at the first call of a customer.
func readPlan(r io.Reader) (plan, error) {
	var p plan
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return plan{}, fmt.Errorf("tiers: %w", err)
	}
	for name, t := range p.Tiers {
		if len(t.Models) == 0 {
			return plan{}, fmt.Errorf("tiers: %s: no models", name)
		}
		for _, limit := range t.policies() {
			if err := limit.Validate(); err != nil {
				return plan{}, fmt.Errorf("tiers: %s: %w", name, err)
			}
		}
	}
	for customer, name := range p.Customers {
		if _, ok := p.Tiers[name]; !ok {
			return plan{}, fmt.Errorf("tiers: customer %s is in the tier %q, which does not exist", customer, name)
		}
	}
	return p, nil
}

// policies are the limits of a tier: both hold at once.
func (t tier) policies() []budget.Policy {
	minute, day := budget.PerMinute(t.PerMinute).WithBurst(t.Burst), budget.PerDay(t.PerDay)
	if t.Burst == 0 {
		minute = minute.WithBurst(1)
	}
	minute.Name, day.Name = "minute", "day"
	return []budget.Policy{minute, day}
}

// keyOf is whose quota a request draws on: each customer has one for each model. The customer is who the application says it is; the model
// is in the path, /v1/{model}/complete.
func keyOf(req *http.Request) string {
	model, _, _ := strings.Cut(strings.TrimPrefix(req.URL.Path, "/v1/"), "/")
	return req.Header.Get("X-Customer") + "/" + model
}

// policiesOf is what throttle.WithPolicyFunc asks, once for each key.
func (p plan) policiesOf(key string, _ *http.Request) ([]budget.Policy, error) {
	customer, model, _ := strings.Cut(key, "/")
	name, ok := p.Customers[customer]
	if !ok {
		return nil, errStranger
	}
	t := p.Tiers[name]
	if !slices.Contains(t.Models, model) {
		return nil, errModel
	}
	return t.policies(), nil
}
