package simulation

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

// storm is a time in which every call is refused, and told until when.
var storm = throttletest.Outage{From: 30*time.Second + 300*time.Millisecond, For: 20 * time.Second, Status: 429, Hint: true}

// resumed checks how a pause ends: at the time that the server named one call goes, and when it is answered the others follow, in the order
// in which they came, and none of them is refused.
func resumed(t *testing.T, f figures) {
	if !assert.NotEmpty(t, f.holds) {
		return
	}
	end := slices.MaxFunc(f.holds, time.Time.Compare)
	var after []throttletest.Arrival
	for _, a := range f.arrivals {
		if a.At.After(end) {
			after = append(after, a)
			assert.Equal(t, throttletest.Admitted, a.Reason, "after the pause")
		}
	}
	guard := 50 * time.Millisecond
	assert.LessOrEqual(t, after[0].At.Sub(end), f.roundTrip()+guard, "the first call after the pause")
	answered := f.answeredAt(after[0].ID)
	assert.LessOrEqual(t, after[1].At.Sub(answered), f.roundTrip()+guard, "the second")
	assert.LessOrEqual(t, f.stats.Refused, 1+int(f.roundTrip()*quota/window)+1, "refused when the pause began: what was under way")
	f.inTurn(t, end)
}

// answeredAt is when the call with that id was answered.
func (f figures) answeredAt(id string) time.Time {
	for _, m := range f.calls {
		if idOf(m) == id {
			return m.done
		}
	}
	return time.Time{}
}

// inTurn checks that the calls that waited through the pause left in the order in which they were made. The network may turn round those that
// left within its jitter.
func (f figures) inTurn(t *testing.T, end time.Time) {
	var waited []made
	for _, m := range f.calls {
		if m.asked.Before(end) && m.left.After(end) && m.attempts == 1 {
			waited = append(waited, m)
		}
	}
	assert.True(t, slices.IsSortedFunc(inOrder(waited), func(a, b made) int { return a.left.Compare(b.left) }), "first come, first served")
}

var pauseScenarios = []scenario{
	{name: "pause ends, declared", server: server(limits(throttletest.TokenBucket(quota, window, 20)), throttletest.WithOutage(storm)),
		client: declare(budget.PerMinute(quota).WithBurst(20)), calls: 1500, want: want{ratio: 1.02, per1000: 2, check: resumed, workers: []int{64, 640}}},
	{name: "pause ends, headers", server: server(limits(throttletest.TokenBucket(quota, window, 20)), told(throttletest.Announce{Dialect: headers.OpenAI}), throttletest.WithOutage(storm)),
		calls: 1500, want: want{ratio: 1.02, per1000: 2, check: resumed, workers: []int{64, 640}}},
}

func TestPausesEndInOrder(t *testing.T) {
	t.Log(heading)
	for _, s := range pauseScenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			judge(t, s)
		})
	}
}
