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

// verdict is what a fleet made of the quota of fleetRate and fleetBurst in a span.
type verdict struct {
	used, overshoot, jain, asks float64 // asks of Redis per call
	total                       findings
	refused                     int
}

func (f *fleet) judge(all []findings, span time.Duration) verdict {
	f.t.Helper()
	arrivals := f.arrivals()
	v := verdict{used: used(arrivals, fleetRate, fleetBurst, span), overshoot: overshoot(arrivals, fleetRate, fleetBurst), jain: jain(all),
		total: total(all), refused: f.upstream.Stats().Refused}
	v.asks = float64(v.total.Asks) / float64(v.total.OK)
	f.t.Logf("%+v, per second: %v", v, perSecond(arrivals))
	return v
}

func TestTenProcessesUseOneQuotaInFullAndNoMore(t *testing.T) {
	const begin, span = time.Second, 20 * time.Second // until all have started, and from then on
	f := muster(t, throttletest.TokenBucket(fleetRate, time.Second, fleetBurst), crew(startRedis(t), 10, begin+span+time.Second)...)
	f.begin()
	v := f.judge(f.report(), begin+span)
	assert.Zero(t, v.refused)
	assert.Zero(t, v.total.Failed, v.total.Err)
	assert.Zero(t, v.total.Degraded)
	assert.GreaterOrEqual(t, between(f.arrivals(), begin, begin+span)/(fleetRate*span.Seconds()), 0.99)
	assert.LessOrEqual(t, v.overshoot, 1.0)
	assert.GreaterOrEqual(t, v.jain, 0.995)
	assert.LessOrEqual(t, v.asks, 0.2)
}

// One process wants 55 % of what all ten want, and that is a tenth more than there is.
func TestSkewedDemandUsesTheQuotaToo(t *testing.T) {
	const begin, span = 2 * time.Second, 8 * time.Second // until there is a queue, and from then on
	all := crew(startRedis(t), 10, begin+span+time.Second)
	for i := range all {
		all[i].Callers, all[i].Rate = 0, 0.05*1.1*fleetRate
	}
	all[0].Rate = 0.55 * 1.1 * fleetRate
	f := muster(t, throttletest.TokenBucket(fleetRate, time.Second, fleetBurst), all...)
	f.begin()
	v := f.judge(f.report(), begin+span)
	assert.Zero(t, v.refused)
	assert.GreaterOrEqual(t, between(f.arrivals(), begin, begin+span)/(fleetRate*span.Seconds()), 0.98)
	assert.LessOrEqual(t, v.overshoot, 1.0)
}

// outageTest lets something happen to the server of a fleet in mid-run.
func outageTest(t *testing.T, end time.Duration, happens func(s *server)) verdict {
	t.Parallel()
	s := startRedis(t)
	all := crew(s, 4, end)
	for i := range all {
		all[i].Timeout = 300 * time.Millisecond
	}
	f := muster(t, throttletest.TokenBucket(fleetRate, time.Second, fleetBurst), all...)
	f.begin()
	happens(s)
	return f.judge(f.report(), end-time.Second)
}

func TestRedisDiesAndComesBackEmpty(t *testing.T) {
	v := outageTest(t, 16*time.Second, func(s *server) {
		time.Sleep(2 * time.Second)
		s.kill()
		time.Sleep(3 * time.Second)
		s.start()
	})
	assert.LessOrEqual(t, v.overshoot, fleetRate*gapTime.Seconds()/4, "the lease of one of the four")
	assert.GreaterOrEqual(t, v.used, 0.85)
	assert.Zero(t, v.total.Failed, v.total.Err)
	assert.Equal(t, 4, v.total.Degraded, "each process says so once")
	assert.Equal(t, 4, v.total.Back, "and is back once")
}

func TestRedisStandsStillForFiveSeconds(t *testing.T) {
	v := outageTest(t, 12*time.Second, func(s *server) {
		time.Sleep(2 * time.Second)
		s.pause()
		time.Sleep(5 * time.Second)
		s.resume()
	})
	assert.LessOrEqual(t, v.overshoot, fleetRate*gapTime.Seconds()/4, "the lease of one of the four")
	assert.GreaterOrEqual(t, v.used, 0.8)
	assert.Zero(t, v.total.Failed, v.total.Err)
	assert.Equal(t, 4, v.total.Degraded)
	assert.Equal(t, 4, v.total.Back)
}

// A process dies with slots in hand: they are lost, and nothing else.
func TestAProcessThatDiesTakesOnlyItsLeaseAlong(t *testing.T) {
	t.Parallel()
	s := startRedis(t)
	f := muster(t, throttletest.TokenBucket(fleetRate, time.Second, fleetBurst), crew(s, 3, 8*time.Second)...)
	f.begin()
	time.Sleep(2 * time.Second)
	require.NoError(t, f.members[0].cmd.Process.Kill())
	f.members = f.members[1:]
	v := f.judge(f.report(), 7*time.Second)
	assert.LessOrEqual(t, v.overshoot, 1.0)
	assert.GreaterOrEqual(t, between(f.arrivals(), 4*time.Second, 7*time.Second), 0.95*3*fleetRate, "the others have all of it")
	assert.Zero(t, v.total.Failed, v.total.Err)
}
