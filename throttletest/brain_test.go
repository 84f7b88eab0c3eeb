package throttletest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

// play asks a brain in pure time: nothing waits.
type play struct {
	*testing.T
	u *Upstream
	n int
}

func newPlay(t *testing.T, opts ...Option) *play { return &play{T: t, u: NewUpstream(opts...)} }

// request is a chat call with some header fields, given in pairs.
func request(body string, header ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, chatURL, strings.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

// at lets a call arrive so long after the dawn, and leave at once.
func (p *play) at(after time.Duration, r *http.Request) verdict {
	p.Helper()
	k, err := p.u.open(r)
	require.NoError(p, err)
	p.n++
	var f *Fault
	if p.u.config.faults != nil {
		f = p.u.config.faults(p.n, r)
	}
	v := p.u.brain.arrive(dawn.Add(after), p.n, k, f)
	p.u.brain.leave(&v, v.at)
	p.u.brain.settle(v.at, &v, k)
	return v
}

// reasons are those of calls at these seconds.
func (p *play) reasons(seconds ...float64) (out []Reason) {
	p.Helper()
	for _, s := range seconds {
		out = append(out, p.at(time.Duration(s*float64(time.Second)), request("{}")).reason)
	}
	return out
}

func TestAllLimitsAreChargedOrNone(t *testing.T) {
	p := newPlay(t, WithLimits(
		FixedWindow(3, time.Minute),
		FixedWindow(100, time.Minute).Of(budget.Tokens),
	))
	big, small := `{"max_tokens":80}`, `{"max_tokens":10}`
	assert.Equal(t, Admitted, p.at(0, request(big)).reason)
	v := p.at(time.Second, request(big))
	assert.Equal(t, OverLimit, v.reason)
	assert.Equal(t, budget.Tokens, v.unit)
	assert.Equal(t, 59*time.Second, v.wait)
	assert.Equal(t, Admitted, p.at(2*time.Second, request(small)).reason)
	assert.Equal(t, Admitted, p.at(2*time.Second, request(small)).reason, "the refused call has taken no request")
	assert.Equal(t, budget.Requests, p.at(3*time.Second, request(`{"max_tokens":1}`)).unit)
}

func TestARefusalNamesTheLongestWait(t *testing.T) {
	p := newPlay(t, WithLimits(FixedWindow(1, time.Second), Daily(1), FixedWindow(1, time.Minute)))
	p.at(0, request("{}"))
	assert.Equal(t, 24*time.Hour, p.at(0, request("{}")).wait)
}

func TestACallLargerThanALimitIsRefusedWithoutAHint(t *testing.T) {
	p := newPlay(t, WithLimits(FixedWindow(10, time.Minute).Of(budget.Tokens)))
	v := p.at(0, request(`{"max_tokens":11}`))
	assert.Equal(t, OverLimit, v.reason)
	assert.False(t, v.hinted)
}

func TestAHintNeedsAllThatIsShort(t *testing.T) {
	p := newPlay(t, WithLimits(Concurrency(1), FixedWindow(1, time.Minute)))
	k, err := p.u.open(request("{}"))
	require.NoError(t, err)
	p.u.brain.arrive(dawn, 1, k, nil) // and stays
	v := p.at(0, request("{}"))
	assert.Equal(t, OverLimit, v.reason)
	assert.False(t, v.hinted, "the edge is known, the end of the call is not")
}

func TestResourcesAndKeysHaveLimitsOfTheirOwn(t *testing.T) {
	search := func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/search") }
	p := newPlay(t,
		WithResource("search", search, FixedWindow(1, time.Minute)),
		WithLimits(FixedWindow(2, time.Minute)),
		WithKey(func(r *http.Request) string { return r.Header.Get("Authorization") }),
	)
	get := func(path, who string) Reason {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Authorization", who)
		return p.at(0, r).reason
	}
	assert.Equal(t, Admitted, get("/search/x", "a"))
	assert.Equal(t, OverLimit, get("/search/x", "a"))
	assert.Equal(t, Admitted, get("/search/x", "b"))
	assert.Equal(t, Admitted, get("/core", "a"))
	assert.Equal(t, Admitted, get("/core", "a"))
	assert.Equal(t, OverLimit, get("/core", "a"))
	arrivals := p.u.Arrivals()
	assert.Equal(t, "search", arrivals[0].Resource)
	assert.Equal(t, "", arrivals[3].Resource)
	assert.Equal(t, "b", arrivals[2].Key)
}

func TestALimitChangesInMidRun(t *testing.T) {
	p := newPlay(t, WithLimits(FixedWindow(1, time.Minute).ChangedTo(3, 10*time.Second).ChangedTo(2, 90*time.Second)))
	assert.Equal(t, []Reason{Admitted, OverLimit}, p.reasons(0, 9.999))
	assert.Equal(t, []Reason{Admitted, Admitted, OverLimit}, p.reasons(10, 10, 11))
	assert.Equal(t, []Reason{Admitted, Admitted, OverLimit}, p.reasons(91, 91, 91))
}

func TestChangesCountFromTheFirstCallOfAll(t *testing.T) {
	p := newPlay(t, WithLimits(FixedWindow(1, time.Hour).ChangedTo(2, 10*time.Second)),
		WithKey(func(r *http.Request) string { return r.Header.Get("Authorization") }))
	p.reasons(0)
	for _, want := range []Reason{Admitted, Admitted, OverLimit} {
		assert.Equal(t, want, p.at(11*time.Second, request("{}", "Authorization", "late")).reason)
	}
}

func TestDrawnUnitsAreGoneBeforeTheFirstCall(t *testing.T) {
	p := newPlay(t, WithLimits(FixedWindow(3, time.Minute).WithDrawn(2)))
	assert.Equal(t, []Reason{Admitted, OverLimit, Admitted}, p.reasons(5, 5, 60))
}

func TestRefusalsAreChargedWhereTheyCount(t *testing.T) {
	p := newPlay(t, WithLimits(SlidingLog(1, 10*time.Second).CountingRefusals()))
	assert.Equal(t, []Reason{Admitted, OverLimit, OverLimit, Admitted}, p.reasons(0, 9, 11, 21))
	p = newPlay(t, WithLimits(SlidingLog(1, 10*time.Second).CountingRefusals()))
	p.reasons(0, 9)
	assert.Equal(t, 8*time.Second, p.at(11*time.Second, request("{}")).wait, "9 s plus 10 s less 11 s")
}

func TestAnOutageRefusesAndChargesNothing(t *testing.T) {
	p := newPlay(t, WithLimits(FixedWindow(2, time.Hour)),
		WithOutage(Outage{From: 10 * time.Second, For: 5 * time.Second, Hint: true}),
		WithOutage(Outage{From: 20 * time.Second, For: 5 * time.Second, Status: 429}))
	assert.Equal(t, []Reason{Admitted}, p.reasons(0))
	v := p.at(12*time.Second, request("{}"))
	assert.Equal(t, verdict{reason: InOutage, status: 503, wait: 3 * time.Second, hinted: true},
		verdict{reason: v.reason, status: v.status, wait: v.wait, hinted: v.hinted})
	assert.Equal(t, []Reason{Admitted}, p.reasons(15))
	v = p.at(20*time.Second, request("{}"))
	assert.Equal(t, 429, v.status)
	assert.False(t, v.hinted)
	assert.Equal(t, []Reason{OverLimit}, p.reasons(25))
}

func TestAPartialOutageHitsItsShare(t *testing.T) {
	p := newPlay(t, WithOutage(Outage{For: time.Hour, Share: 0.3}))
	for range 1000 {
		p.at(0, request("{}"))
	}
	assert.InDelta(t, 300, p.u.Stats().ByReason[InOutage], 50)
}

func TestHammeringIsBanned(t *testing.T) {
	ban := Ban{Refusals: 3, Within: 2 * time.Second, For: time.Minute, Status: 403}
	p := newPlay(t, WithLimits(FixedWindow(1, time.Hour)), WithBan(ban))
	assert.Equal(t, []Reason{Admitted, OverLimit, OverLimit}, p.reasons(0, 1, 2))
	assert.Equal(t, []Reason{OverLimit, OverLimit}, p.reasons(3.5, 4.5), "three, but not within 2 s until now")
	assert.Zero(t, p.bans())
	assert.Equal(t, []Reason{OverLimit, Banned}, p.reasons(5, 6))
	assert.Equal(t, 1, p.bans())
	v := p.at(7*time.Second, request("{}"))
	assert.Equal(t, 403, v.status)
	assert.Equal(t, 58*time.Second, v.wait)
	assert.True(t, v.hinted)
	assert.Equal(t, []Reason{OverLimit, OverLimit, OverLimit, Banned}, p.reasons(65, 65, 65, 66), "the slate was clean")
	assert.Equal(t, 2, p.bans())
}

func (p *play) bans() int { return p.u.brain.ledger.stats.Bans }

func TestABanCountsRefusalsWithinItsSpan(t *testing.T) {
	ban := Ban{Refusals: 3, Within: 2 * time.Second, For: time.Second}
	p := newPlay(t, WithLimits(FixedWindow(1, time.Hour)), WithBan(ban))
	assert.Equal(t, []Reason{Admitted, OverLimit, OverLimit, OverLimit, Banned}, p.reasons(0, 1, 2, 3, 3.5), "3 s less 1 s is within")
	assert.Equal(t, []Reason{OverLimit, OverLimit, OverLimit, Banned}, p.reasons(4, 4, 4.1, 4.2), "those before the ban are forgotten")
}

func TestABanMayBeExtended(t *testing.T) {
	ban := Ban{Refusals: 1, Within: time.Second, For: time.Minute, Extends: true}
	p := newPlay(t, WithLimits(FixedWindow(1, 30*time.Second)), WithBan(ban))
	assert.Equal(t, []Reason{Admitted, OverLimit, Banned, Banned, Admitted}, p.reasons(0, 1, 60, 119, 179))
}

func TestBansAreOfOneKey(t *testing.T) {
	p := newPlay(t, WithLimits(FixedWindow(1, time.Hour)), WithBan(Ban{Refusals: 1, Within: time.Second, For: time.Minute}),
		WithKey(func(r *http.Request) string { return r.Header.Get("Authorization") }))
	for range 3 {
		p.at(0, request("{}", "Authorization", "bad"))
	}
	assert.Equal(t, Admitted, p.at(0, request("{}", "Authorization", "good")).reason)
}

func TestAForeignerDrawsInTheMeantime(t *testing.T) {
	p := newPlay(t, WithLimits(FixedWindow(10, time.Minute)), WithForeign(Foreign{Gap: Constant(5 * time.Second)}))
	assert.Equal(t, []Reason{Admitted}, p.reasons(0))
	got := p.reasons(21, 21, 21, 21, 21, 21) // the foreigner has had 4, we 1
	assert.Equal(t, []Reason{Admitted, Admitted, Admitted, Admitted, Admitted, OverLimit}, got)
	p.reasons(59)
	f := p.u.brain.stats(dawn.Add(59 * time.Second)).Foreign
	assert.Equal(t, Count{Arrivals: 11, Admitted: 4, Refused: 7}, f)
}

func TestTheRefusalsOfAForeignerCountToo(t *testing.T) {
	p := newPlay(t, WithLimits(SlidingLog(1, 10*time.Second).CountingRefusals()), WithForeign(Foreign{Gap: Constant(9 * time.Second)}))
	assert.Equal(t, []Reason{Admitted, OverLimit}, p.reasons(0, 12))
}

func TestAForeignerSeesChangesInTheirOrder(t *testing.T) {
	p := newPlay(t, WithLimits(FixedWindow(1, time.Hour).ChangedTo(2, 3*time.Second)), WithForeign(Foreign{Gap: Constant(2 * time.Second)}))
	p.reasons(0)
	assert.Equal(t, []Reason{OverLimit}, p.reasons(10))
	f := p.u.brain.stats(dawn.Add(10 * time.Second)).Foreign
	assert.Equal(t, 1, f.Admitted, "that of 4 s, not that of 2 s")
}

func TestFaultsAreNotChargedUnlessSaid(t *testing.T) {
	p := newPlay(t, WithLimits(FixedWindow(2, time.Minute)), WithFaults(func(n int, _ *http.Request) *Fault {
		return map[int]*Fault{1: {Status: 500}, 2: {Status: 500, Charged: true}, 3: {Reset: true}}[n]
	}))
	assert.Equal(t, []Reason{Faulted, Faulted, Faulted, Admitted, OverLimit}, p.reasons(0, 0, 0, 0, 0))
	assert.Equal(t, map[int]int{500: 2, 0: 1, 200: 1, 429: 1}, p.u.Stats().ByStatus)
}

func TestAFaultWithNoProperStatusIs500(t *testing.T) {
	resp, _ := post(t, faulty(Fault{Status: 42}), chatURL, "{}")
	assert.Equal(t, 500, resp.StatusCode)
}

func TestStatusesInOrder(t *testing.T) {
	f := Statuses(429, 0, 200, 503)
	assert.Equal(t, 429, f(1, nil).Status)
	assert.Nil(t, f(2, nil))
	assert.Nil(t, f(3, nil))
	assert.Equal(t, 503, f(4, nil).Status)
	assert.Nil(t, f(5, nil))
	g := FirstCalls(2, Fault{Status: 429})
	assert.Equal(t, 429, g(2, nil).Status)
	assert.Nil(t, g(3, nil))
}

func TestTheQueueOfTheServerShowsAsServiceTime(t *testing.T) {
	p := newPlay(t, WithLimits(LeakyQueue(10, time.Second, 1)), WithLatency(Latency{Service: Constant(time.Second)}))
	assert.Equal(t, time.Second, p.at(0, request("{}")).service)
	assert.Equal(t, 1100*time.Millisecond, p.at(0, request("{}")).service)
	assert.Equal(t, OverLimit, p.at(0, request("{}")).reason)
}
