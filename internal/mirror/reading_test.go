package mirror

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/seed-18ca0a92/throttle/headers"
)

func (k *talk) read(sent, received moment, left float64) reading {
	a := Answer{Sent: epoch.Add(sent), Received: epoch.Add(received), Cost: 1, Quota: k.quota(left, s)}
	return k.m.read(&a, k.net)
}

func TestReadingOfALoneCallIsExact(t *testing.T) {
	k := newTalk(t, 100)
	k.send(0)
	r := k.read(0, 100*ms, 99)
	assert.Equal(t, []float64{100, 100, 100, 100}, []float64{r.sureLo, r.lo, r.hi, r.sureHi})
}

// Three calls 5 ms apart, 200 ms after another: the third answer may count none, one or both of its neighbours.
func TestReadingIsAnInterval(t *testing.T) {
	k := newTalk(t, 100)
	for _, at := range []moment{0, 200 * ms, 205 * ms, 210 * ms} {
		k.send(at)
	}
	r := k.read(205*ms, 300*ms, 97) // it was the third to arrive, as it left
	assert.Equal(t, 99.0, r.lo, "only the first call is far enough ahead")
	assert.Equal(t, 101.0, r.hi, "the last one too may have come before it")
	assert.Equal(t, 98.0, r.sureLo, "of no call is it known to have ended")
	assert.Equal(t, 101.0, r.sureHi)

	k.m.ends.add(100*ms, 1)
	assert.Equal(t, 99.0, k.read(205*ms, 300*ms, 97).sureLo, "now of the first it is")
}

// In whatever order calls arrive, the true supply lies within what trusts nothing.
func TestReadingContainsTheSupplyInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := newTalk(nil, 1000)
		type call struct{ sent, arrives, back moment }
		n := rapid.IntRange(1, 40).Draw(t, "calls")
		calls := make([]call, n)
		var now moment
		for i := range calls {
			now += moment(rapid.Int64Range(0, int64(50*ms)).Draw(t, "gap"))
			there := moment(rapid.Int64Range(1, int64(300*ms)).Draw(t, "there"))
			back := moment(rapid.Int64Range(1, int64(300*ms)).Draw(t, "back"))
			calls[i] = call{now, now + there, now + there + back}
		}
		which := rapid.IntRange(0, n-1).Draw(t, "which")
		for _, c := range calls {
			k.send(c.sent)
		}
		ended := slices.Clone(calls)
		slices.SortFunc(ended, func(a, b call) int { return cmp.Compare(a.back, b.back) })
		for _, c := range ended {
			if c.back < calls[which].back {
				k.m.ends.add(c.back, 1)
			}
		}
		before := 0
		for i, c := range calls {
			if c.arrives < calls[which].arrives || i == which {
				before++
			}
		}
		r := k.read(calls[which].sent, calls[which].back, 1000-float64(before))
		if r.sureLo > 1000 || r.sureHi < 1000 {
			t.Fatalf("1000 is not in %v..%v", r.sureLo, r.sureHi)
		}
	})
}

func TestReadingWithoutRemainingCountsNothing(t *testing.T) {
	k := newTalk(t, 100)
	k.send(0)
	q := k.quota(0, 5*s)
	q.Remaining = headers.Maybe[float64]{}
	r := k.m.read(&Answer{Sent: epoch, Received: epoch.Add(100 * ms), Cost: 1, Quota: q}, k.net)
	assert.False(t, r.counted)
	assert.Equal(t, 4*s, r.from())
	assert.Equal(t, 5*s+100*ms, r.to())
}

func TestReadingNeverLeavesTheCallItselfOut(t *testing.T) {
	k := newTalk(t, 100)
	k.send(0)
	assert.Equal(t, 99.0, k.read(0, 100*ms, 100).left, "a number that was rounded up, or told too early")
}

// Where answers take no time at all, calls of one moment are in no order.
func TestReadingInNoTime(t *testing.T) {
	k := newTalk(t, 100)
	k.net = Network{}
	for range 3 {
		k.send(0)
	}
	k.answer(0, 0, 97, s) // the last to arrive answers first
	r := k.read(0, 0, 99)
	assert.LessOrEqual(t, r.sureLo, 100.0)
	assert.GreaterOrEqual(t, r.sureHi, 100.0)
}
