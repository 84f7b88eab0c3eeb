package redisbudget

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// ear listens for holds, so that those who have slots in hand learn of one at once, and for signs of life. It is no more than a
// shortcut: every answer of the script tells the hold too. One goroutine and one connection serve all accounts, as long as there are any.
type ear struct {
	client redis.UniversalClient

	since time.Time    // when it came to be
	asked atomic.Int64 // how long after that an account last asked for something, in nanoseconds

	mu       sync.Mutex
	accounts map[string]map[*account]bool // by channel
	sub      *redis.PubSub                // nil while nobody listens
	stop     context.CancelFunc
}

// earPause is how long to wait before a lost connection is tried again.
const earPause = time.Second

// longestHold is what is believed at the most, in microseconds: ten years.
const longestHold = 10 * 366 * 24 * 3600e6

// join begins to listen for an account, if it does not yet. It does not wait for the network.
func (e *ear) join(a *account) {
	channel := a.names.state
	e.mu.Lock()
	defer e.mu.Unlock()
	if all := e.accounts[channel]; all != nil {
		all[a] = true
		return
	}
	if e.sub == nil {
		e.accounts = map[string]map[*account]bool{}
		ctx, stop := context.WithCancel(context.Background())
		e.sub, e.stop = e.client.Subscribe(ctx), stop
		context.AfterFunc(ctx, closing(e.sub))
		go e.listen(ctx, e.sub, channel)
	} else {
		go func(sub *redis.PubSub) { _ = sub.Subscribe(context.Background(), channel) }(e.sub)
	}
	e.accounts[channel] = map[*account]bool{a: true}
}

func closing(sub *redis.PubSub) func() { return func() { _ = sub.Close() } }

// part ends that, and all listening with the last one.
func (e *ear) part(a *account) {
	channel := a.names.state
	e.mu.Lock()
	defer e.mu.Unlock()
	all := e.accounts[channel]
	if !all[a] {
		return
	}
	if delete(all, a); len(all) > 0 {
		return
	}
	if delete(e.accounts, channel); len(e.accounts) > 0 {
		go func(sub *redis.PubSub) { _ = sub.Unsubscribe(context.Background(), channel) }(e.sub)
		return
	}
	e.stop()
	e.sub = nil
}

// listen hands on what is told, until nobody listens any more. A lost connection is made anew, with all its channels, by the next receipt.
func (e *ear) listen(ctx context.Context, sub *redis.PubSub, channel string) {
	_ = sub.Subscribe(ctx, channel)
	var pinged time.Time // and not answered yet; zero for none
	for ctx.Err() == nil {
		said, err := sub.ReceiveTimeout(ctx, beat)
		var timeout net.Error
		switch {
		case err == nil:
			pinged = time.Time{}
			switch m := said.(type) {
			case *redis.Message:
				e.tell(m)
			case *redis.Subscription:
				e.catchUp(m.Channel)
			}
		case errors.As(err, &timeout) && timeout.Timeout():
			pinged = e.beat(ctx, sub, pinged)
		default:
			e.doubt(0)
			pinged = time.Time{}
			rest(ctx, earPause)
		}
	}
}

func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

const (
	// beat is how long nothing may be heard before Redis is asked for a sign of life: a process with slots in hand asks for the next
	// ones much later, and would count its share from then on.
	beat = 200 * time.Millisecond
	// beatsFor is how long after an ask that goes on: a process that does not work need not know.
	beatsFor = 2 * time.Second
)

// note remembers that an account asks for something.
func (e *ear) note() { e.asked.Store(int64(time.Since(e.since))) }

// beat asks for a sign of life, or raises doubt where the last one that was asked for has not come.
func (e *ear) beat(ctx context.Context, sub *redis.PubSub, pinged time.Time) time.Time {
	now := time.Now()
	switch {
	case !pinged.IsZero():
		e.doubt(now.Sub(pinged))
		return time.Time{}
	case now.Sub(e.since)-time.Duration(e.asked.Load()) > beatsFor:
		return time.Time{}
	}
	_ = sub.Ping(ctx)
	return now
}

// doubt asks whether Redis is still there, of which the last sign is older than that: the sooner a process knows, the less of its share is
// lost. Where one server serves all, one account finds out for all.
func (e *ear) doubt(silence time.Duration) {
	e.mu.Lock()
	var all []*account
	for _, some := range e.accounts {
		all = slices.AppendSeq(all, maps.Keys(some))
	}
	e.mu.Unlock()
	for i, a := range all {
		a.mu.Lock()
		if a.doubted.IsZero() {
			a.doubted = a.store.now().Add(-silence)
		}
		if i == 0 || !a.store.company.together {
			a.poke(a.store.now())
		}
		a.mu.Unlock()
	}
}

// catchUp asks Redis about the holds of a channel that is listened to from now on: what was said before, such as that a hold has ended, was
// missed.
func (e *ear) catchUp(channel string) {
	e.mu.Lock()
	all := slices.Collect(maps.Keys(e.accounts[channel]))
	e.mu.Unlock()
	for _, a := range all {
		a.mu.Lock()
		if now := a.store.now(); a.held.After(now) {
			a.poke(now)
		}
		a.mu.Unlock()
	}
}

// tell lets the accounts of a channel know of a hold, or of a state that has begun anew.
func (e *ear) tell(m *redis.Message) {
	var changed, left float64
	var epoch string
	if _, err := fmt.Sscan(m.Payload, &changed, &left, &epoch); err != nil || !(left >= 0) {
		return
	}
	e.mu.Lock()
	all := slices.Collect(maps.Keys(e.accounts[m.Channel]))
	e.mu.Unlock()
	for _, a := range all {
		a.overhear(a.store.now(), changed, time.Duration(min(left, longestHold)*1e3), epoch)
	}
}

// overhear is told of a hold that lasts d more. In an epoch that this account does not know yet it has no slots, and asks for what there is.
func (a *account) overhear(now time.Time, changed float64, d time.Duration, epoch string) {
	a.mu.Lock()
	if known := a.view.epoch; known != "" && epoch != known && !a.flying {
		a.forget()
		a.poke(now)
	}
	a.hold(now, changed, d)
	a.news.changed = true
	a.mu.Unlock()
	a.announce()
}
