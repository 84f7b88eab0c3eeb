// Package redisbudget keeps budgets in Redis or Valkey, so that any number of processes share one quota: all of it used, and none
// of it twice.
//
//	rdb := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: []string{"localhost:6379"}})
//	store, err := redisbudget.New(rdb)
//	…
//	client, err := throttle.NewClient(throttle.WithPolicies(budget.PerMinute(500)), throttle.WithStore(store))
//
// A process does not ask Redis for each call. It leases slots: moments at which a call may leave, given as delays from now, so
// that no two clocks need to agree. One script on the server's clock hands them out, for all policies of a key together. A busy
// process leases several at once and asks for the next before the last is spent; slots that nobody wanted are returned. While Redis
// is away each process goes on with its share (see Outage); observers are told (throttle.KindDegraded), and go-redis writes to standard error unless
// redis.SetLogger says otherwise.
//
// Options and keys must be the same in all processes: WithPrefix, the policies, and what throttle.WithKey makes of a request.
package redisbudget
