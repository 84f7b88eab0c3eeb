package throttle

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// Transport is an http.RoundTripper that lets every request wait its turn. Requests of one key share what the user declared and what the
// server announces; a refusal pauses all of them. It keeps the contract of http.RoundTripper but for one sentence: it
// interprets answers, since that is what it is for. Make one per quota, not one per request. Safe for concurrent use.
type Transport struct {
	base http.RoundTripper
	*core
}

// core is what the transports made by WithBase share: all the lanes.
type core struct {
	cfg *config
	all *total

	mu       sync.RWMutex
	policies []budget.Policy
	edition  uint64 // counts their changes
	lanes    map[string]*lane
	asking   map[string]*question // by the keys whose policies the user's function is working out
	sweeper  *time.Timer          // drops idle lanes; nil while there are none
	closed   bool

	rounds  sync.Pool // of *round
	readers sync.Pool // of *reader
}

var _ http.RoundTripper = (*Transport)(nil)

// NewTransport wraps base; nil means http.DefaultTransport. An option that makes no sense is an error here, never a panic later.
func NewTransport(base http.RoundTripper, opts ...Option) (*Transport, error) {
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	c := &core{cfg: cfg, all: newTotal(cfg.maxInFlightTotal), policies: cfg.policies, lanes: map[string]*lane{}, asking: map[string]*question{}}
	c.rounds.New = func() any { return new(round) }
	c.readers.New = func() any { return new(reader) }
	return (&Transport{core: c}).WithBase(base), nil
}

// WithBase is a transport over the same lanes with another base, such as a proxy's or one that adds credentials. Nil means
// http.DefaultTransport.
func (t *Transport) WithBase(base http.RoundTripper) *Transport {
	if base == nil {
		base = http.DefaultTransport
	}
	return &Transport{base: base, core: t.core}
}

// RoundTrip sends req once its turn has come, and again as long as that may help. A response that was obtained is returned with a nil error, also
// when it is a refusal; ResultOf says why there was no further attempt. An error that says that nothing was sent is a *LimitError.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	x := newExchange(t, req)
	x.start()
	defer x.unwind()
	if t.cfg.skip != nil && t.cfg.skip(req) {
		x.ended.Store(true)
		x.rest()
		return t.base.RoundTrip(req)
	}
	if err := x.begin(); err != nil {
		return x.end(outcome{err: x.drop(err)})
	}
	o := x.attempt()
	if x.repeats(&o) {
		o = x.loop(o)
	}
	return x.end(o)
}

// CloseIdleConnections closes the idle connections of the base, if it can.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// Key is the key that req has.
func (t *Transport) Key(req *http.Request) string {
	if c, ok := FromContext(req.Context()); ok && c.Key != "" {
		return c.Key
	}
	return t.cfg.key(req)
}

// Hold lets nothing of a key leave for d. It is only ever extended; Resume ends it.
func (t *Transport) Hold(key string, d time.Duration) {
	l, err := t.lane(background, key, nil)
	if err != nil {
		l = t.find(key) // whose policies could not be set anew: it is held all the same
	}
	if l != nil {
		l.holdFor(d)
	}
}

// Resume ends the hold of a key, whoever imposed it. Where a store is shared, it does so for all processes.
func (t *Transport) Resume(key string) {
	if l := t.find(key); l != nil {
		l.resume()
	}
}

// SetPolicies replaces what WithPolicies declared. Units that were spent stay spent, and the waiting calls are looked at again. A policy
// function is asked again for each key. On an error nothing has changed. A key that the store cannot change keeps its policies until it can: observers
// are told, and so is each call of the key that comes meanwhile.
func (t *Transport) SetPolicies(p ...budget.Policy) error {
	for _, policy := range p {
		if err := t.cfg.checkPolicy("SetPolicies", policy); err != nil {
			return fmt.Errorf("throttle: %w", err)
		}
	}
	if err := t.cfg.checkNames(p); err != nil {
		return fmt.Errorf("throttle: SetPolicies: %w", err)
	}
	t.mu.Lock()
	t.policies = append([]budget.Policy(nil), p...)
	t.edition++
	lanes := t.allLanes()
	t.mu.Unlock()
	for _, l := range lanes {
		if err := l.setPolicies(p); err != nil {
			t.cfg.observers.emit(background, Event{Kind: KindDegraded, Key: l.key, Err: err})
		}
		if req, asks := l.waitingFor(); asks {
			_, _ = t.lane(background, l.key, req) // on an error the next call asks again, and is told
		}
	}
	return nil
}

// Close ends every waiting call with ErrClosed, and refuses those that come. Calls in flight go on. A store given by WithStore stays open.
func (t *Transport) Close() error {
	t.mu.Lock()
	t.closed = true
	lanes := t.allLanes()
	clear(t.lanes)
	if t.sweeper != nil {
		t.sweeper.Stop()
	}
	t.mu.Unlock()
	for _, l := range lanes {
		l.close()
	}
	return nil
}

// allLanes is every lane; t.mu must be held.
func (t *core) allLanes() []*lane {
	all := make([]*lane, 0, len(t.lanes))
	for _, l := range t.lanes {
		all = append(all, l)
	}
	return all
}
