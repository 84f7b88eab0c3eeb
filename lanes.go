package throttle

import (
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
func (t *core) lane(key string, req *http.Request) (*lane, error) {
	if l := t.find(key); l != nil && !l.asksPolicies() {
		return l, nil
	}
	declared, err := t.policiesOf(key, req)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, &LimitError{Key: key, Err: ErrClosed}
	}
	if l := t.lanes[key]; l != nil {
		return l, l.answerPolicies(declared)
	}
	l, err := newLane(key, t.cfg, t.all, declared, now)
	if err != nil {
		return nil, &LimitError{Key: key, Err: err}
	}
	t.lanes[key] = l
	if t.sweeper == nil {
		t.sweeper = time.AfterFunc(idleLife, t.sweep)
	}
	return l, nil
}

// policiesOf is what is declared for a key.
func (t *core) policiesOf(key string, req *http.Request) ([]budget.Policy, error) {
	t.mu.RLock()
	all := t.policies
	t.mu.RUnlock()
	if t.cfg.policyFunc == nil {
		return all, nil
	}
	own, err := t.cfg.policyFunc(key, req)
	if err != nil {
		return nil, &LimitError{Key: key, Err: err}
	}
	for _, p := range own {
		if err := t.cfg.checkPolicy("the policy function", p); err != nil {
			return nil, &LimitError{Key: key, Err: err}
		}
	}
	return append(all[:len(all):len(all)], own...), nil
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
