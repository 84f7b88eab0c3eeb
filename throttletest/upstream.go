package throttletest

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// Upstream is a strict server. It is an http.Handler, for real sockets, and an http.RoundTripper, for programs that wait in
// virtual time; both ask the same brain, so one Upstream may even be used as both. Safe for concurrent use. It has no goroutine
// of its own and needs no closing. It remembers every id that it is told, and so suits tests and demonstrations only.
//
// Its time begins with the first call that arrives: outages and changes of limits count from there.
type Upstream struct {
	config *config

	mu    sync.Mutex // guards what follows; nothing sleeps and no foreign code runs under it
	brain *brain
	calls int
	seen  map[string]int // how often an id was sent
}

// New makes an upstream, or says which option is wrong. With no option it admits every call and answers at once.
func New(opts ...Option) (*Upstream, error) {
	c := defaults()
	for _, opt := range opts {
		if opt == nil {
			return nil, errorf("one of the options is nil")
		}
		if err := opt(c); err != nil {
			return nil, err
		}
	}
	return &Upstream{config: c, brain: newBrain(c), seen: map[string]int{}}, nil
}

// NewUpstream is New for tests, whose options are written in the source: it panics with New's error, as regexp.MustCompile does.
// A program that takes the options from its user calls New.
func NewUpstream(opts ...Option) *Upstream {
	u, err := New(opts...)
	if err != nil {
		panic(err)
	}
	return u
}

// Stats is what was counted so far.
func (u *Upstream) Stats() Stats {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.brain.stats(time.Now())
}

// Arrivals is a copy of the log, in order of time.
func (u *Upstream) Arrivals() []Arrival {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.brain.arrivals()
}

// open makes a call of a request, and reads its body.
func (u *Upstream) open(r *http.Request) (*call, error) {
	k, err := read(r)
	if err != nil {
		return nil, err
	}
	u.mu.Lock()
	u.seen[k.id]++
	try := u.seen[k.id]
	u.mu.Unlock()
	k.draws = u.config.draw(luck(u.config.seed, k.id, try))
	k.ask, k.isAI = parseAsk(k.body)
	k.resource = u.config.resourceOf(r)
	k.resourceName = u.config.resources[k.resource].name
	k.key = u.config.key(r)
	u.config.appraise(k)
	if !k.ask.Stream {
		k.service += time.Duration(k.output) * u.config.latency.PerToken
	}
	return k, nil
}

// arrive is the moment at which the call reaches the server.
func (u *Upstream) arrive(k *call) *verdict {
	u.mu.Lock()
	u.calls++
	n := u.calls
	u.mu.Unlock()
	var f *Fault
	if u.config.faults != nil {
		f = u.config.faults(n, k.request)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	v := u.brain.arrive(time.Now(), n, k, f)
	return &v
}

// leave says that the call will have left the server at a moment, now or ahead.
func (u *Upstream) leave(v *verdict, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.brain.leave(v, at)
}

// finish ends the call, now.
func (u *Upstream) finish(v *verdict, k *call) {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := time.Now()
	u.brain.leave(v, now)
	u.brain.settle(now, v, k)
}

// clock is the time as the server has it.
func (u *Upstream) clock() time.Time { return time.Now().Add(u.config.skew) }

// pause waits for d or for the end of ctx, whose cause it then returns.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
