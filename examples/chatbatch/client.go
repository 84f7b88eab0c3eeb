package main

import (
	"context"
	"io"
	"net/http"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/job"
	"github.com/seed-18ca0a92/throttle/llm"
)

// client is the throttled way to the target.
type client struct {
	*http.Client
	transport *throttle.Transport
	target    *target
	store     io.Closer // of -redis; may be nil
}

// connections are those of one run: as many as there are workers, so that none is closed only to be opened again.
func connections(workers int) http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, workers
	return t
}

// newClient builds it from the flags: the network connects, Traffic counts every attempt, the throttle decides when there is one.
func newClient(ctx context.Context, b *batch) (*client, error) {
	s, network := b.settings, b.world.network
	if network == nil {
		network = connections(s.workers)
	}
	c := &client{target: b.target}
	opts := options(s, b.guess)
	if s.redis != "" {
		store, more, err := share(ctx, s, b.world.stderr)
		if err != nil {
			return nil, err
		}
		c.store, opts = store, append(opts, more...)
	}
	var err error
	if c.transport, err = throttle.NewTransport(&job.Traffic{Base: network, Tally: b.tally}, opts...); err != nil {
		c.closeStore()
		return nil, err
	}
	c.Client = &http.Client{Transport: c.transport, CheckRedirect: noRedirect}
	return c, nil
}

// options are the flags in the throttle's words.
func options(s *settings, guess *llm.Estimator) []throttle.Option {
	opts := []throttle.Option{
		throttle.WithKey(llm.ByModel),
		throttle.WithCost(costOf(s, guess)),
		throttle.WithUsage(guess.Usage),
		throttle.WithVerdict(llm.Verdict),
		throttle.WithIdempotent(func(*http.Request) bool { return true }), // chat calls change nothing
		throttle.WithAttemptTimeout(s.timeout),
	}
	if s.maxWait > 0 {
		opts = append(opts, throttle.WithMaxWait(s.maxWait))
	}
	if s.maxAttempts > 0 {
		opts = append(opts, throttle.WithMaxAttempts(s.maxAttempts))
	}
	if s.limited() {
		opts = append(opts, throttle.WithPolicyFunc(s.policyFunc))
	}
	return opts
}

// noRedirect keeps the key, and the requests, with the host that the user named.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// costOf adds the day's unit to what the estimator says.
func costOf(s *settings, guess *llm.Estimator) func(*http.Request) budget.Cost {
	if s.rpd == 0 {
		return guess.Cost
	}
	return func(req *http.Request) budget.Cost {
		cost := guess.Cost(req)
		cost[dailyRequests] = 1
		return cost
	}
}

// book counts the requests that earlier runs sent within the day, by model, against -rpd. A shared store knows them already.
func (c *client) book(ctx context.Context, s *settings, attempts map[string]int) error {
	if s.rpd == 0 || s.redis != "" {
		return nil
	}
	for model, n := range attempts {
		key, err := c.keyOf(ctx, model)
		if err != nil {
			return err
		}
		cost := budget.Cost{budget.Requests: 0, dailyRequests: min(float64(n), s.rpd)}
		permit, err := c.transport.Acquire(ctx, throttle.Call{Key: key, Cost: cost, Bypass: true})
		if err != nil {
			return err
		}
		permit.Done()
	}
	return nil
}

// keyOf is the key that requests of a model have.
func (c *client) keyOf(ctx context.Context, model string) (string, error) {
	req, err := http.NewRequestWithContext(llm.NewContext(ctx, llm.Prompt{Model: model}), http.MethodPost, c.target.url, nil)
	if err != nil {
		return "", err
	}
	req.Header = c.target.header
	return c.transport.Key(req), nil
}

// close ends what waits and lets go of the connections.
func (c *client) close() {
	_ = c.transport.Close() // it has nothing to lose
	c.CloseIdleConnections()
	c.closeStore()
}

func (c *client) closeStore() {
	if c.store != nil {
		_ = c.store.Close() // nothing is left to be told there
	}
}
