package redisbudget_test

import (
	"context"
	"log"

	"github.com/redis/go-redis/v9"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/budget/redisbudget"
)

// Every process of the fleet does the same. Nothing is connected before the first call.
func ExampleNew() {
	rdb := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: []string{"localhost:6379"}})
	defer rdb.Close()
	store, err := redisbudget.New(rdb, redisbudget.WithProcesses(4)) // by which a process divides that starts while Redis is away
	if err != nil {
		log.Fatal(err)
	}
	transport, err := throttle.NewTransport(nil,
		throttle.WithPolicies(budget.PerMinute(500)),
		throttle.WithStore(store),
		throttle.WithObserver(throttle.ObserverFunc(func(_ context.Context, e throttle.Event) {
			if e.Kind == throttle.KindDegraded {
				log.Print(e.Key, ": the store: ", e.Err) // nil when it is back
			}
		})),
	)
	if err != nil {
		log.Fatal(err)
	}
	defer transport.Close()
}
