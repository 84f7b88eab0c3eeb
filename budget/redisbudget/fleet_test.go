package redisbudget

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

// fleet is several processes that share a quota at a strict upstream.
type fleet struct {
	t        *testing.T
	upstream *throttletest.Upstream
	url      string
	members  []*member
	lag      func() Lag // of the upstream
}

// member is one of the processes.
type member struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// muster starts an upstream and the processes; each has its own orders. They begin when they are told to.
func muster(t *testing.T, limit throttletest.Limit, all ...orders) *fleet {
	t.Helper()
	f := &fleet{t: t, upstream: throttletest.NewUpstream(throttletest.WithLimits(limit), throttletest.WithLog(1_000_000))}
	s := httptest.NewServer(f.upstream)
	t.Cleanup(s.Close)
	f.url = s.URL
	for _, o := range all {
		o.URL = s.URL
		if o.Timeout == 0 {
			o.Timeout = 2 * time.Second // a loaded machine is no outage
		}
		f.members = append(f.members, enlist(t, o))
	}
	for _, m := range f.members {
		line, err := m.out.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "ready\n", line)
	}
	return f
}

// enlist starts a process: this test program itself, in another role.
func enlist(t *testing.T, o orders) *member {
	t.Helper()
	text, err := json.Marshal(o)
	require.NoError(t, err)
	m := &member{cmd: exec.Command(os.Args[0])}
	m.cmd.Env = append(os.Environ(), "REDISBUDGET_TEST_WORKER="+string(text))
	m.cmd.Stderr = os.Stderr
	m.in, err = m.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := m.cmd.StdoutPipe()
	require.NoError(t, err)
	m.out = bufio.NewReader(out)
	require.NoError(t, m.cmd.Start())
	t.Cleanup(func() {
		_ = m.cmd.Process.Kill()
		_ = m.cmd.Wait()
	})
	return m
}

func (f *fleet) begin() {
	f.lag = watchLag()
	for _, m := range f.members {
		_, err := io.WriteString(m.in, "go\n")
		require.NoError(f.t, err)
	}
}

// report waits for the end and gathers what the processes saw.
func (f *fleet) report() (all []findings) {
	f.t.Helper()
	for _, m := range f.members {
		var saw findings
		require.NoError(f.t, json.NewDecoder(m.out).Decode(&saw))
		all = append(all, saw)
	}
	f.t.Logf("%+v", all)
	return all
}

// arrivals are when calls came in at the upstream, after the first one.
func (f *fleet) arrivals() (all []time.Duration) {
	arrivals := f.upstream.Arrivals()
	for _, a := range arrivals {
		all = append(all, a.At.Sub(arrivals[0].At))
	}
	return all
}

// used is the part of what a bucket grants in a span from the first call on that was used.
func used(arrivals []time.Duration, rate, burst float64, span time.Duration) float64 {
	return between(arrivals, 0, span) / (burst + rate*span.Seconds())
}

// perSecond counts the arrivals of each second.
func perSecond(arrivals []time.Duration) (n []int) {
	for _, a := range arrivals {
		for len(n) <= int(a/time.Second) {
			n = append(n, 0)
		}
		n[a/time.Second]++
	}
	return n
}

// between counts the arrivals of a span.
func between(arrivals []time.Duration, from, to time.Duration) (n float64) {
	for _, a := range arrivals {
		if from <= a && a < to {
			n++
		}
	}
	return n
}

// overshoot is by how many calls more a bucket was exceeded in any span.
func overshoot(arrivals []time.Duration, rate, burst float64) float64 {
	worst, level, last := 0.0, burst, time.Duration(0)
	for _, a := range arrivals {
		level = min(burst, level+rate*(a-last).Seconds()) - 1
		last = a
		worst = max(worst, -level)
	}
	return worst
}

// jain is the fairness of shares: 1 if all are equal, 1/n if one has everything (Jain, Chiu, Hawe 1984).
func jain(all []findings) float64 {
	sum, squares := 0.0, 0.0
	for _, f := range all {
		sum += float64(f.OK)
		squares += float64(f.OK) * float64(f.OK)
	}
	return sum * sum / (squares * float64(len(all)))
}

// total adds up what all saw.
func total(all []findings) (sum findings) {
	for _, f := range all {
		sum.OK += f.OK
		sum.Refused += f.Refused
		sum.Failed += f.Failed
		sum.Asks += f.Asks
		sum.EarlyOK += f.EarlyOK
		sum.EarlyAsks += f.EarlyAsks
		sum.Longest = max(sum.Longest, f.Longest)
		sum.Held += f.Held / time.Duration(len(all))
		sum.Lag.Worst = max(sum.Lag.Worst, f.Lag.Worst)
		sum.Lag.Lost += f.Lag.Lost / time.Duration(len(all))
		sum.Degraded += f.Degraded
		sum.Back += f.Back
	}
	return sum
}

const (
	fleetRate  = 100
	fleetBurst = 20
)

// crew are n equal processes with more to do than they may.
func crew(s *server, n int, d time.Duration) []orders {
	all := make([]orders, n)
	for i := range all {
		all[i] = orders{Redis: s.addr, For: d, Callers: 20, Policies: []budget.Policy{budget.PerSecond(fleetRate).WithBurst(fleetBurst)}}
	}
	return all
}

// verdict is what a fleet made of the quota of fleetRate and fleetBurst.
type verdict struct {
	used, overshoot, jain float64
	asks                  float64 // of Redis per call, after the beginning
	total                 findings
	refused               int
	span                  time.Duration
}

// judge looks at a span from begin on, or from the first call on with the burst if that is 0.
func (f *fleet) judge(all []findings, begin, span time.Duration) verdict {
	f.t.Helper()
	lag := f.lag()
	arrivals := f.arrivals()
	v := verdict{used: used(arrivals, fleetRate, fleetBurst, span), overshoot: overshoot(arrivals, fleetRate, fleetBurst), jain: jain(all),
		total: total(all), refused: f.upstream.Stats().Refused, span: span}
	if begin > 0 {
		v.used = between(arrivals, begin, begin+span) / (fleetRate * span.Seconds())
	}
	v.total.Lag.Worst = max(v.total.Lag.Worst, lag.Worst)
	v.total.Lag.Lost += lag.Lost
	v.asks = float64(v.total.Asks-v.total.EarlyAsks) / float64(v.total.OK-v.total.EarlyOK)
	f.t.Logf("%+v, per second: %v", v, perSecond(arrivals))
	return v
}

func TestTenProcessesUseOneQuotaInFullAndNoMore(t *testing.T) {
	const begin, span = time.Second, 20 * time.Second // until all have started, and from then on
	g := goal{used: 0.99, jain: 0.995, asks: 0.2, refused: none}
	v := g.play(t, func() verdict {
		f := muster(t, throttletest.TokenBucket(fleetRate, time.Second, fleetBurst), crew(startRedis(t), 10, begin+span+time.Second/2)...)
		f.begin()
		return f.judge(f.report(), begin, span)
	})
	assert.Zero(t, v.total.Degraded)
}

// One process wants 55 % of what all ten want, and that is a tenth more than there is.
func TestSkewedDemandUsesTheQuotaToo(t *testing.T) {
	const begin, span = 3 * time.Second, 8 * time.Second // until there is a queue, and from then on
	g := goal{used: 0.98, asks: 0.2, refused: none}
	g.play(t, func() verdict {
		all := crew(startRedis(t), 10, begin+span+time.Second/2)
		for i := range all {
			all[i].Callers, all[i].Rate, all[i].Seed, all[i].Begin = 0, 0.05*1.1*fleetRate, uint64(50+i), begin // draws that do queue by then
		}
		all[0].Rate = 0.55 * 1.1 * fleetRate
		f := muster(t, throttletest.TokenBucket(fleetRate, time.Second, fleetBurst), all...)
		f.begin()
		return f.judge(f.report(), begin, span)
	})
}

// outageTest lets something happen to the server of a fleet of four in mid-run. What they exceed the limit by is the lease of one at the most.
func outageTest(t *testing.T, happens func(s *server)) {
	t.Parallel()
	const end = 14 * time.Second
	g := goal{used: 0.95, jain: 0.95, asks: 0.2, over: fleetRate * gapTime.Seconds() / 4, refused: onePerThousand}
	v := g.play(t, func() verdict {
		s := startRedis(t)
		all := crew(s, 4, end)
		for i := range all {
			all[i].Timeout = 300 * time.Millisecond
		}
		f := muster(t, throttletest.TokenBucket(fleetRate, time.Second, fleetBurst), all...)
		f.begin()
		happens(s)
		return f.judge(f.report(), 0, end-time.Second)
	})
	assert.Less(t, v.total.Longest, 5*time.Second, "nobody hangs: each has twenty callers, who wait for 0.8 s at all times")
	if !v.disturbed() {
		assert.Equal(t, 4, v.total.Degraded, "each process says so once")
	}
	assert.Equal(t, v.total.Degraded, v.total.Back, "and is back as often")
}

func TestRedisDiesAndComesBackEmpty(t *testing.T) {
	outageTest(t, func(s *server) {
		time.Sleep(2 * time.Second)
		s.kill()
		time.Sleep(3 * time.Second)
		s.start()
	})
}

func TestRedisStandsStillForFiveSeconds(t *testing.T) {
	outageTest(t, func(s *server) {
		time.Sleep(2 * time.Second)
		s.pause()
		time.Sleep(5 * time.Second)
		s.resume()
	})
}

// A process dies with slots in hand: they are lost, and nothing else.
func TestAProcessThatDiesTakesOnlyItsLeaseAlong(t *testing.T) {
	t.Parallel()
	const dies, settles, span = 2 * time.Second, 4 * time.Second, 4 * time.Second
	g := goal{used: 0.98, jain: 0.98, asks: 0.2, refused: none}
	g.play(t, func() verdict {
		s := startRedis(t)
		f := muster(t, throttletest.TokenBucket(fleetRate, time.Second, fleetBurst), crew(s, 3, settles+span+time.Second/2)...)
		f.begin()
		time.Sleep(dies)
		require.NoError(t, f.members[0].cmd.Process.Kill())
		f.members = f.members[1:]
		return f.judge(f.report(), settles, span)
	})
}
