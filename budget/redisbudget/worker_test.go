package redisbudget

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	throttle "github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/budget"
)

// orders tell a process of the fleet what to do.
type orders struct {
	Redis, URL string
	Policies   []budget.Policy
	For        time.Duration
	Begin      time.Duration // what was before is told apart
	Callers    int           // that call again as soon as they have an answer
	Rate       float64       // or calls per second that come whatever happens,
	Seed       uint64        // at random times that follow from this
	Timeout    time.Duration
}

// findings are what it saw.
type findings struct {
	OK, Refused, Failed int
	Asks                int64         // of Redis
	EarlyOK             int           // before Begin
	EarlyAsks           int64         // likewise
	Longest             time.Duration // that a call took
	Held                time.Duration // for refusals
	Lag                 Lag
	Degraded, Back      int
	Err                 string // the first that a call ended with
}

// work is the main function of a process of the fleet: it says that it is ready, waits for a line, works, and tells what it saw.
func work(text string) int {
	var o orders
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return 2
	}
	rdb := redis.NewClient(&redis.Options{Addr: o.Redis})
	asks := &counter{}
	rdb.AddHook(asks)
	store, err := New(rdb, WithTimeout(o.Timeout))
	if err != nil {
		return 2
	}
	w := &worker{orders: o}
	client, err := throttle.NewClient(throttle.WithPolicies(o.Policies...), throttle.WithStore(store), throttle.WithMaxAttempts(1),
		throttle.WithObserver(throttle.ObserverFunc(w.observe)))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return 1
	}
	lag := watchLag()
	early := time.AfterFunc(o.Begin, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.saw.EarlyOK, w.saw.EarlyAsks = w.saw.OK, asks.n.Load()
	})
	w.run(client)
	early.Stop()
	w.saw.Asks, w.saw.Lag = asks.n.Load(), lag()
	_ = json.NewEncoder(os.Stdout).Encode(&w.saw)
	return 0
}

// counter counts the scripts that Redis is asked to run.
type counter struct{ n atomic.Int64 }

func (c *counter) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *counter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if name := cmd.Name(); name == "evalsha" || name == "eval" {
			c.n.Add(1)
		}
		return next(ctx, cmd)
	}
}

func (c *counter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

type worker struct {
	orders
	mu  sync.Mutex
	saw findings
}

func (w *worker) observe(_ context.Context, e throttle.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case e.Kind == throttle.KindHold:
		w.saw.Held += e.Duration
	case e.Kind != throttle.KindDegraded:
	case e.Err != nil:
		w.saw.Degraded++
	default:
		w.saw.Back++
	}
}

// run calls until the time is over.
func (w *worker) run(client *http.Client) {
	ctx, cancel := context.WithCancel(context.Background()) // not a deadline: the lane would refuse calls for that
	defer cancel()
	time.AfterFunc(w.For, cancel)
	var calls sync.WaitGroup
	for range w.Callers {
		calls.Go(func() {
			for ctx.Err() == nil {
				w.call(ctx, client)
			}
		})
	}
	random := rand.New(rand.NewPCG(w.Seed, 0))
	for next := time.Now(); w.Rate > 0 && ctx.Err() == nil; time.Sleep(time.Until(next)) {
		calls.Go(func() { w.call(ctx, client) })
		next = next.Add(time.Duration(random.ExpFloat64() / w.Rate * float64(time.Second)))
	}
	calls.Wait()
}

func (w *worker) call(ctx context.Context, client *http.Client) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.URL, nil)
	if err != nil {
		panic(err)
	}
	began := time.Now()
	resp, err := client.Do(req)
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.saw.Longest = max(w.saw.Longest, time.Since(began))
	switch {
	case ctx.Err() != nil: // the time is over
	case err != nil:
		w.saw.Failed++
		if w.saw.Err == "" {
			w.saw.Err = err.Error()
		}
	case resp.StatusCode == http.StatusOK:
		w.saw.OK++
	default:
		w.saw.Refused++
	}
}
