package simulation

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

// scenario is a server, what the client knows of it, and the work.
type scenario struct {
	name      string
	server    []throttletest.Option
	varied    func(*rand.Rand) throttletest.Option // more of it, another one with each seed; nil = nothing
	client    []throttle.Option
	calls     int
	processes int     // 0 = one
	fair      float64 // the part of the limits that is left to us where others draw too; 0 = all
	body      func(i int) string
	want      want
}

// want is what the figures must be, as means over the seeds.
type want struct {
	ratio   float64         // makespan over the bound
	late    time.Duration   // that may come on top: what nobody could know in time
	per1000 float64         // refusals per 1000 admitted
	rough   float64         // likewise at roughJitter, where that is more
	uneven  float64         // ratio at roughJitter, where that is more
	crowd   float64         // refusals per 1000 that may come on top with 256 workers: calls that nobody can call back
	crowded float64         // likewise the ratio, where that is more
	alone   float64         // ratio with one worker, where that is more
	short   string          // which goal is missed, and why; the figures above are then what is reached
	jain    float64         // least
	bans    bool            // any are allowed
	workers []int           // to play with; 16 if empty
	jitters []time.Duration // usualJitter if empty
}

// setting is one way to play a scenario.
type setting struct {
	seed    uint64
	workers int
	jitter  time.Duration // the spread of the one-way delay
}

// figures is what came of one run.
type figures struct {
	makespan, bound time.Duration
	done            int
	stats           throttletest.Stats
	waits           []time.Duration // sorted
}

func (f figures) ratio() float64 { return float64(f.makespan) / float64(f.bound) }

func (f figures) wait(q float64) time.Duration {
	if len(f.waits) == 0 {
		return 0
	}
	return f.waits[min(int(q*float64(len(f.waits))), len(f.waits)-1)]
}

// The network and the service of most runs: 8 to 14 ms each way, and 120 ms at the server with the long tail of real ones.
const (
	oneWay      = 8 * time.Millisecond
	usualJitter = 6 * time.Millisecond
	// roughJitter is several times the round trip: calls sent in one moment arrive spread over half of the time that they take.
	roughJitter = 60 * time.Millisecond
	serviceMean = 120 * time.Millisecond
	serviceTail = 0.4
)

// run plays a scenario once, in a bubble of its own.
func run(t *testing.T, s scenario, with setting) (f figures) {
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(with.seed, 1))
		time.Sleep(time.Duration(random.Int64N(int64(time.Hour)))) // so that windows are met in any phase
		up := throttletest.NewUpstream(slices.Concat([]throttletest.Option{
			throttletest.WithSeed(with.seed),
			throttletest.WithLatency(throttletest.Latency{
				Network: oneWay, Jitter: throttletest.Uniform(0, with.jitter),
				Service: throttletest.LogNormal(serviceMean, serviceTail), Refusal: 2 * time.Millisecond,
			}),
		}, s.server, s.variedBy(random))...)
		start := time.Now()
		bound, ok := up.Bound(throttletest.Job{Calls: s.calls, Workers: with.workers * max(1, s.processes), Start: start})
		if !ok {
			t.Fatalf("%s: the work can never be done", s.name)
		}
		f = play(t, s, with, up)
		f.bound = bound
		if s.fair > 0 { // the least time is that of a client who leaves others nothing
			f.bound = time.Duration(float64(bound) / s.fair)
		}
		f.stats = up.Stats()
	})
	return f
}

// variedBy is what differs from seed to seed.
func (s scenario) variedBy(random *rand.Rand) []throttletest.Option {
	if s.varied == nil {
		return nil
	}
	return []throttletest.Option{s.varied(random)}
}

// play makes all the calls.
func play(t *testing.T, s scenario, with setting, up *throttletest.Upstream) (f figures) {
	ctx := context.Background()
	var next atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	start := time.Now()
	for p := range max(1, s.processes) {
		tr, err := throttle.NewTransport(up, s.client...)
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close()
		for range with.workers {
			wg.Go(func() {
				for i := int(next.Add(1)); i <= s.calls; i = int(next.Add(1)) {
					waited, ok := call(ctx, &http.Client{Transport: tr}, fmt.Sprint("process-", p), s.bodyOf(i))
					mu.Lock()
					if ok {
						f.done++
					}
					f.waits = append(f.waits, waited)
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()
	f.makespan = time.Since(start)
	slices.Sort(f.waits)
	return f
}

func (s scenario) bodyOf(i int) string {
	if s.body == nil {
		return ""
	}
	return s.body(i)
}

// call makes one call, and reports how long it waited and whether it was answered in the end.
func call(ctx context.Context, c *http.Client, name, body string) (waited time.Duration, ok bool) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://upstream.example/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		return 0, false
	}
	req.Header.Set(throttletest.ClientHeader, name)
	resp, err := c.Do(req)
	if err != nil {
		return 0, false
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	r, _ := throttle.ResultOf(resp)
	return r.Waited + r.Held, resp.StatusCode == http.StatusOK
}
