package mirror

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// Whatever was sent when, the total at any moment that is asked for lies between upTo and within; and it is exact while there is
// room for every amount.
func TestHistoryBoundsTheTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := history{keep: time.Minute}
		gaps := rapid.SliceOfN(rapid.Int64Range(0, int64(300*ms)), 1, 3000).Draw(t, "gaps")
		var now moment
		truth := make([]mark, 0, len(gaps))
		for i, gap := range gaps {
			now += moment(gap)
			h.add(now, float64(i%3))
			truth = append(truth, mark{now, h.total})
		}
		asked := now - moment(rapid.Int64Range(0, int64(h.keep)).Draw(t, "ago"))
		exact := 0.0
		for _, m := range truth {
			if m.at <= asked {
				exact = m.total
			}
		}
		if !h.covers(asked) {
			t.Fatalf("%v is forgotten %v later", asked, now-asked)
		}
		if got := h.upTo(asked); got > exact {
			t.Fatalf("upTo %v exceeds %v", got, exact)
		}
		if got := h.within(asked); got < exact {
			t.Fatalf("within %v misses %v", got, exact)
		}
		if len(gaps) <= marksMost && h.upTo(asked) != exact {
			t.Fatalf("not exact with %d amounts", len(gaps))
		}
		if h.n > marksMost {
			t.Fatalf("%d marks", h.n)
		}
	})
}

func TestHistoryForgetsWhatIsNotAskedFor(t *testing.T) {
	h := history{keep: s}
	for i := range 10 * marksMost {
		h.add(moment(i)*10*ms, 1)
	}
	last := moment(10*marksMost-1) * 10 * ms
	assert.False(t, h.covers(last-time.Minute))
	assert.True(t, h.covers(last-s))
	assert.Equal(t, h.total-100, h.upTo(last-s), "a hundred in the last second, exactly")
	assert.Equal(t, h.before, h.upTo(0), "before what is remembered: what went before")
	assert.Len(t, h.marks, marksMost)
}

func TestHistoryStaysSmallWhenLittleHappens(t *testing.T) {
	var h history
	h.add(0, 1)
	h.add(s, 1)
	assert.Len(t, h.marks, marksFirst)
}

func TestHistoryTakesAStepBackForNow(t *testing.T) {
	var h history
	h.add(2*s, 1)
	h.add(s, 1)
	assert.Zero(t, h.upTo(s))
	assert.Equal(t, 2.0, h.upTo(2*s))
}

func TestHistoryKnowsWhenATotalWasReached(t *testing.T) {
	var h history
	assert.Zero(t, h.reached(1))
	for i := range 10 {
		h.add(moment(i)*s, 2)
	}
	assert.Equal(t, 0*s, h.reached(1))
	assert.Equal(t, 0*s, h.reached(2))
	assert.Equal(t, 4*s, h.reached(9))
	assert.Equal(t, 9*s, h.reached(20))
}
