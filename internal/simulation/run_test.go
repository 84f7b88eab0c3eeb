package simulation

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

// scenario is a server, what the client knows of it, and the work.
type scenario struct {
	name      string
	server    []throttletest.Option
	varied    func(*rand.Rand) throttletest.Option // more of it, another one with each seed; nil = nothing
	client    []throttle.Option
	preset    func() throttle.Option // what each process learns with by itself; nil = nothing
	calls     int
	processes int     // 0 = one
	fair      float64 // the part of the limits that is left to us where others draw too; 0 = all
	body      func(seed uint64, i int) string
	cost      budget.Cost                   // of every call, for the bound of the upstream; nil = one request
	bound     func(f figures) time.Duration // the least time, where the upstream's own is not for such calls; nil = that one
	want      want
}

// setting is one way to play a scenario.
type setting struct {
	seed    uint64
	workers int
	jitter  time.Duration // the spread of the one-way delay
}

// figures is what came of one run.
type figures struct {
	setting
	start           time.Time
	makespan, bound time.Duration
	done            int
	stats           throttletest.Stats
	arrivals        []throttletest.Arrival
	calls           []made // in the order in which they were made
	waits           []time.Duration
	budgets         []throttle.BudgetState // of the first process, in the end
	holds           []time.Time            // when each hold ended
}

// made is one call as its caller saw it.
type made struct {
	index       int
	process     int
	asked, done time.Time
	left        time.Time // when it was sent, if it was sent once
	waited      time.Duration
	attempts    int
	err         error // nil: it was answered with 200
}

func (f figures) ratio() float64 { return float64(f.makespan) / float64(f.bound) }

func (f figures) wait(q float64) time.Duration { return quantile(f.waits, q) }

// quantile is the duration that a part q of sorted ones do not exceed; 0 if there are none.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// spread is how many times longer than in the luckiest process the waits of 99 calls of 100 are in the unluckiest one; 0 if there is only one
// process.
func (f figures) spread() float64 {
	waits := map[int][]time.Duration{}
	for _, m := range f.calls {
		waits[m.process] = append(waits[m.process], m.waited)
	}
	if len(waits) < 2 {
		return 0
	}
	least, most := time.Duration(math.MaxInt64), time.Duration(0)
	for _, w := range waits {
		slices.Sort(w)
		p99 := quantile(w, .99)
		least, most = min(least, p99), max(most, p99)
	}
	return float64(most) / float64(max(1, least))
}

// windows is how many calls the server let in, in each whole window of the clock: the first and the last are cut off by the work itself.
func (f figures) windows() []int {
	all := throttletest.PerWindow(f.arrivals, window, 0)
	if len(all) < 3 {
		return nil
	}
	return all[1 : len(all)-1]
}

// admitted is how many calls the server let in from a moment on, for a time.
func (f figures) admitted(from time.Time, within time.Duration) (n int) {
	for _, a := range f.arrivals {
		if a.Reason == throttletest.Admitted && !a.At.Before(from) && a.At.Before(from.Add(within)) {
			n++
		}
	}
	return n
}

// The network and the service of most runs: 8 to 14 ms each way, and 120 ms at the server with the long tail of real ones.
const (
	oneWay      = 8 * time.Millisecond
	usualJitter = 6 * time.Millisecond
	// roughJitter is several times the round trip: calls sent in one moment arrive spread over half of the time that they take.
	roughJitter = 60 * time.Millisecond
	serviceMean = 120 * time.Millisecond
	serviceTail = 0.4
	// refusalTime is how long a server takes to refuse.
	refusalTime = 2 * time.Millisecond
)

// roundTrip is the most that a call spends on the network, both ways.
func (w setting) roundTrip() time.Duration { return 2 * (oneWay + w.jitter) }

func (w setting) latency() throttletest.Latency {
	return throttletest.Latency{Network: oneWay, Jitter: throttletest.Uniform(0, w.jitter), Service: throttletest.LogNormal(serviceMean, serviceTail), Refusal: refusalTime}
}

// run plays a scenario once, in a bubble of its own.
func run(t *testing.T, s scenario, with setting) (f figures) {
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(with.seed, 1))
		time.Sleep(time.Duration(random.Int64N(int64(time.Hour)))) // so that windows are met in any phase
		up := throttletest.NewUpstream(slices.Concat([]throttletest.Option{throttletest.WithSeed(with.seed), throttletest.WithLatency(with.latency())}, s.server, s.variedBy(random))...)
		start := time.Now()
		var bound time.Duration
		if s.bound == nil {
			var ok bool
			if bound, ok = up.Bound(throttletest.Job{Calls: s.calls, Workers: with.workers * max(1, s.processes), Start: start, Cost: s.cost}); !ok {
				t.Fatalf("%s: the work can never be done", s.name)
			}
		}
		f = play(t, s, with, up)
		f.setting, f.start, f.bound = with, start, bound
		f.stats, f.arrivals = up.Stats(), up.Arrivals()
		if s.bound != nil {
			f.bound = s.bound(f)
		}
		if s.fair > 0 { // the least time is that of a client who leaves others nothing
			f.bound = time.Duration(float64(f.bound) / s.fair)
		}
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

// play makes all the calls. The workers begin a microsecond after each other, so that the order in which calls are made is known.
func play(t *testing.T, s scenario, with setting, up *throttletest.Upstream) (f figures) {
	var next atomic.Int64
	var mu sync.Mutex // guards f
	var wg sync.WaitGroup
	start := time.Now()
	for p := range max(1, s.processes) {
		tr := s.process(t, up, func(end time.Time) {
			mu.Lock()
			f.holds = append(f.holds, end)
			mu.Unlock()
		})
		defer tr.Close()
		if p == 0 {
			defer func() { f.budgets = budgetsOf(tr) }()
		}
		c := caller{client: &http.Client{Transport: tr}, process: p, scenario: s, seed: with.seed}
		for w := range with.workers {
			wg.Go(func() {
				time.Sleep(time.Duration(w) * time.Microsecond)
				for i := int(next.Add(1)); i <= s.calls; i = int(next.Add(1)) {
					m := c.call(i)
					mu.Lock()
					f.calls = append(f.calls, m)
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()
	f.makespan = time.Since(start)
	f.sum()
	return f
}

// process is a transport as the scenario has it, which tells when each of its holds will end. Events cost time: where no run is checked, nobody
// looks at them.
func (s scenario) process(t *testing.T, up *throttletest.Upstream, held func(end time.Time)) *throttle.Transport {
	options := slices.Clone(s.client)
	if s.want.check != nil {
		options = append(options, throttle.WithObserver(throttle.ObserverFunc(func(_ context.Context, e throttle.Event) {
			if e.Kind == throttle.KindHold {
				held(time.Now().Add(e.Duration))
			}
		})))
	}
	if s.preset != nil {
		options = append(options, s.preset())
	}
	tr, err := throttle.NewTransport(up, options...)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// budgetsOf is the budgets of all keys.
func budgetsOf(tr *throttle.Transport) (all []throttle.BudgetState) {
	for _, k := range tr.Snapshot() {
		all = append(all, k.Budgets...)
	}
	return all
}

// sum adds up what the calls came to.
func (f *figures) sum() {
	slices.SortFunc(f.calls, func(a, b made) int { return a.index - b.index })
	for _, m := range f.calls {
		if m.err == nil {
			f.done++
		}
		f.waits = append(f.waits, m.waited)
	}
	slices.Sort(f.waits)
}

// caller makes the calls of one process.
type caller struct {
	client  *http.Client
	process int
	scenario
	seed uint64
}

// call makes the i-th call, and follows it to the end of its answer.
func (c caller) call(i int) made {
	m := made{index: i, process: c.process, asked: time.Now()}
	path, body := "/v1/items", ""
	if c.body != nil {
		path, body = "/v1/chat/completions", c.body(c.seed, i)
	}
	var result throttle.Result
	ctx := throttle.NewContext(context.Background(), throttle.Call{Result: &result})
	m.err = c.answer(ctx, path, body, i)
	m.done = time.Now()
	m.waited, m.attempts = result.Waited+result.Held, result.Attempts
	m.left = m.asked.Add(m.waited + result.BackedOff)
	return m
}

// answer is nil if the call was answered with 200, to the end.
func (c caller) answer(ctx context.Context, path, body string, i int) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://upstream.example"+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set(throttletest.ClientHeader, fmt.Sprint("process-", c.process))
	if c.want.check != nil {
		req.Header.Set(throttletest.IDHeader, strconv.Itoa(i))
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err = io.Copy(io.Discard, resp.Body); err == nil && resp.StatusCode != http.StatusOK {
		err = statusError(resp.StatusCode)
	}
	return err
}

// idOf is the id by which the upstream knows a call.
func idOf(m made) string { return strconv.Itoa(m.index) }

// statusError is an answer other than 200.
type statusError int

func (e statusError) Error() string { return fmt.Sprint("answered with ", int(e)) }
