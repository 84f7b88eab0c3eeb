package redisbudget

import (
	"errors"
	"fmt"
	"net"

	"github.com/redis/go-redis/v9"
)

var errLate = errors.New("redisbudget: Redis has not answered in time (WithTimeout)")

// explain says where an error comes from, and what to do about it.
func (a *account) explain(err error) error {
	var shape *ShapeError
	var dial *net.OpError
	switch {
	case errors.As(err, &shape):
		shape.Key, shape.Ours = a.key, a.declared
		return shape
	case errors.Is(err, errReply), errors.Is(err, errLate):
		return err
	case redis.IsAuthError(err):
		return fmt.Errorf("redisbudget: Redis refuses the user or the password: check those of the client that New was given: %w", err)
	case redis.IsPermissionError(err):
		return fmt.Errorf("redisbudget: the user of the client that New was given may not do this in Redis: allow it EVAL, EVALSHA, and what the script uses: %w", err)
	case errors.As(err, &dial) && dial.Op == "dial":
		return fmt.Errorf("redisbudget: nothing answers there as Redis: start it, or check the address of the client that New was given: %w", err)
	}
	return fmt.Errorf("redisbudget: %w", err)
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

// ofKey reports whether an error is about what one key holds, and not about Redis.
func ofKey(err error) bool {
	var shape *ShapeError
	return errors.As(err, &shape) || errors.Is(err, errReply) || redis.HasErrorPrefix(err, "WRONGTYPE") || redis.HasErrorPrefix(err, "ERR")
}
