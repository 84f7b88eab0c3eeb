package redisbudget

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"
)

var errLate = errors.New("redisbudget: Redis has not answered in time (WithTimeout)")

// explain says where an error comes from, and what to do about it.
func (a *account) explain(err error) error {
	var shape *ShapeError
	switch {
	case errors.As(err, &shape):
		shape.Key, shape.Ours, shape.Theirs = a.key, readable(a.declared), readable(shape.Theirs)
		return shape
	case errors.Is(err, errLate) && a.view.epoch == "":
		return fmt.Errorf("%w: check the address and the TLS settings of the client that New was given", errLate)
	case errors.Is(err, errReply), errors.Is(err, errLate):
		return err
	}
	if advice := advice(err); advice != "" {
		return fmt.Errorf("redisbudget: %s: %w", advice, err)
	}
	return fmt.Errorf("redisbudget: %w", err)
}

// advice is what to do about an error of Redis; empty where the error says it itself.
func advice(err error) string {
	var dial *net.OpError
	switch {
	case redis.IsAuthError(err):
		return "Redis refuses the user or the password: check those of the client that New was given"
	case redis.IsPermissionError(err), strings.Contains(err.Error(), "can't run this command"):
		return "the user of the client that New was given may not do this in Redis: allow it EVAL, EVALSHA, and what the script uses"
	case redis.IsReadOnlyError(err):
		return "this is a replica: give New a client for the primary, or one that asks sentinels for it"
	case moved(err):
		return "this is one node of a cluster: give New a redis.ClusterClient"
	case errors.As(err, &dial) && dial.Op == "dial":
		return "nothing answers there as Redis: start it, or check the address of the client that New was given"
	}
	return ""
}

// moved reports whether another node of a cluster serves the key, which a client for a cluster would ask by itself.
func moved(err error) bool {
	_, elsewhere := redis.IsMovedError(err)
	_, asks := redis.IsAskError(err)
	return elsewhere || asks
}

// ErrAway is what calls fail with under Closed while Redis is away. What went wrong is wrapped with it.
var ErrAway = errors.New("redisbudget: Redis is away, and nothing leaves without it (WithOutage)")

// Err is ErrAway, with its cause, while nothing may leave. It asks Redis again by itself when that is due.
func (a *account) Err() error {
	now := a.store.now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.outage == nil || a.store.outage != Closed {
		return nil
	}
	if len(a.pool.slots) > 0 {
		return nil // what is in hand may be spent
	}
	if !a.flying && !a.closed {
		a.slots = max(a.slots, 1)
		a.request(now)
	}
	return fmt.Errorf("%w: %w", ErrAway, a.outage.err)
}

// ofKey reports whether an error is about one key, what it holds or where it is, and not about Redis.
func ofKey(err error) bool {
	var shape *ShapeError
	switch {
	case errors.As(err, &shape), errors.Is(err, errReply), moved(err):
		return true
	case redis.IsMaxClientsError(err):
		return false
	}
	return redis.HasErrorPrefix(err, "WRONGTYPE") || ofScript(err)
}

// ofScript reports whether Redis could not run the script to its end, which may be due to what it met.
func ofScript(err error) bool {
	var said redis.Error
	return errors.As(err, &said) && strings.HasPrefix(said.Error(), "ERR ")
}
