package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/budget/redisbudget"
)

// sharedPrefix keeps the keys of this program apart from those of others in the same Redis.
const sharedPrefix = "chatbatch:"

// share makes the limits common to all runs that name the same -redis. Close the client when the transport is closed.
func share(ctx context.Context, s *settings, stderr io.Writer) (redis.UniversalClient, []throttle.Option, error) {
	o, err := redis.ParseURL(s.redis)
	if err != nil {
		return nil, nil, errors.New("-redis: it is not an address such as redis://localhost:6379/0") // the text may hold a password
	}
	client := redis.NewClient(o)
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	if err := client.Ping(ctx).Err(); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("-redis: %s does not answer: %w", o.Addr, err), client.Close())
	}
	store, err := redisbudget.New(client, redisbudget.WithPrefix(sharedPrefix), redisbudget.WithTimeout(time.Second))
	if err != nil {
		return nil, nil, errors.Join(err, client.Close())
	}
	return client, []throttle.Option{throttle.WithStore(store), throttle.WithObserver(outages{stderr})}, nil
}

// silent keeps the Redis library from writing to standard error by itself.
type silent struct{}

// Printf writes nothing.
func (silent) Printf(context.Context, string, ...any) {}

// outages says when the common limits are lost, and when they are back.
type outages struct{ stderr io.Writer }

// Observe looks at one kind of event.
func (o outages) Observe(_ context.Context, e throttle.Event) {
	if e.Kind != throttle.KindDegraded {
		return
	}
	if e.Err != nil {
		fmt.Fprintf(o.stderr, "chatbatch: Redis is away (%v): this run goes on with its share of the limits\n", e.Err)
		return
	}
	fmt.Fprintln(o.stderr, "chatbatch: Redis is back")
}
