package throttle

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// idleLife is how long a lane that nobody uses is kept: longer than a connection is (90 s in net/http), so that a pause in the work does not
// cost what was learned.
const idleLife = 5 * time.Minute

// find is the lane of a key, or nil.
func (t *core) find(key string) *lane {
	t.mu.RLock()
	l := t.lanes[key]
	t.mu.RUnlock()
	return l
}

// lane finds or makes the lane of a key. req is nil where there is none.
func (t *core) lane(ctx context.Context, key string, req *http.Request) (*lane, error) {
	for {
		if l := t.find(key); l != nil && !l.asks.Load() {
			return l, nil
		}
		if t.cfg.policyFunc == nil {
			return t.open(key)
		}
		q, mine := t.claim(key)
		if mine {
			if l, err := t.ask(ctx, q, req); err != errOutdated {
				return l, err
			}
			continue
		}
		select { // somebody asks already
		case <-q.done:
			if q.err != nil {
				return nil, q.err
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// question is one call of the policy function, on behalf of everybody who needs its answer meanwhile.
type question struct {
	key  string
	done chan struct{} // closed when it is answered
	err  error         // the answer, if it concerns all who have waited for it
}

// claim makes the caller the one who asks the policy function for a key, unless somebody else does, or has done so since the caller looked.
func (t *core) claim(key string) (q *question, mine bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if q := t.asking[key]; q != nil {
		return q, false
	}
	q = &question{key: key, done: make(chan struct{})}
	if l := t.lanes[key]; l != nil && !l.asks.Load() {
		close(q.done)
		return q, false
	}
	t.asking[key] = q
	return q, true
}

// ask asks the policy function, and makes the lane or changes it. What goes wrong concerns those who have come until then: the next one asks
// again. An error of a caller whose own context has ended may be no more than that, and is nobody else's.
func (t *core) ask(ctx context.Context, q *question, req *http.Request) (l *lane, err error) {
	defer func() {
		if err != errOutdated && ctx.Err() == nil {
			q.err = err
		}
		t.mu.Lock()
		delete(t.asking, q.key)
		t.mu.Unlock()
		close(q.done)
	}()
	declared, edition := t.declared()
	policies, err := t.policiesOf(q.key, req, declared)
	if err != nil {
		return nil, &LimitError{Key: q.key, Err: err}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.edition != edition {
		return nil, errOutdated
	}
	return t.build(q.key, policies)
}

// errOutdated says that SetPolicies came while the policy function was at work.
var errOutdated = errors.New("throttle: the policies have changed")

// open makes the lane of a key from what is declared.
func (t *core) open(key string) (*lane, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.build(key, t.policies)
}

// build makes the lane of a key, or lets it have the policies that it has asked for; t.mu must be held.
func (t *core) build(key string, policies []budget.Policy) (*lane, error) {
	if t.closed {
		return nil, &LimitError{Key: key, Err: ErrClosed}
	}
	if l := t.lanes[key]; l != nil {
		return l, l.answerPolicies(policies)
	}
	l, err := newLane(key, t.cfg, t.all, policies, time.Now())
	if err != nil {
		return nil, &LimitError{Key: key, Err: err}
	}
	t.lanes[key] = l
	if t.sweeper == nil {
		t.sweeper = time.AfterFunc(idleLife, t.sweep)
	}
	return l, nil
}

// declared is what WithPolicies or SetPolicies declares, and how often that has changed.
func (t *core) declared() (policies []budget.Policy, edition uint64) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.policies, t.edition
}

// policiesOf is what is declared for all keys and, by the policy function, for this one.
func (t *core) policiesOf(key string, req *http.Request, all []budget.Policy) ([]budget.Policy, error) {
	own, err := t.cfg.policyFunc(key, req)
	if err != nil {
		return nil, err
	}
	for _, p := range own {
		if err := t.cfg.checkPolicy("WithPolicyFunc", p); err != nil {
			return nil, err
		}
	}
	all = append(all[:len(all):len(all)], own...)
	return all, t.cfg.checkNames(all)
}

// sweep drops the lanes that nobody has used for long and that have nothing to remember, and comes back while there are any left.
func (t *core) sweep() {
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, l := range t.lanes {
		if l.retire(now) {
			delete(t.lanes, key)
		}
	}
	switch {
	case t.closed:
	case len(t.lanes) == 0:
		t.lanes, t.sweeper = map[string]*lane{}, nil // a map never shrinks: a new one returns the memory
	default:
		t.sweeper.Reset(idleLife)
	}
}
