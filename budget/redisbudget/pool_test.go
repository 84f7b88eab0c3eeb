package redisbudget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func slotAt(from, until int64, n ...float64) slot {
	return slot{due: millis(from), until: millis(until), left: n}
}

func TestThePoolIsInOrder(t *testing.T) {
	var p pool
	assert.True(t, p.last().IsZero())
	_, ok := p.at([]float64{1})
	assert.False(t, ok)
	p.add(slotAt(200, 300, 1), slotAt(100, 500, 1))
	p.add(slotAt(150, 200, 1))
	at, ok := p.at([]float64{1})
	assert.True(t, ok)
	assert.Equal(t, millis(100), at)
	assert.Equal(t, millis(500), p.last(), "the last to end, not to begin")
	assert.Equal(t, 3.0, p.total(0))
}

// A call of two units needs two slots that are good at once.
func TestSlotsAddUpWhileBothAreGood(t *testing.T) {
	var p pool
	p.add(slotAt(0, 100, 1), slotAt(200, 300, 1), slotAt(250, 350, 1))
	at, ok := p.at([]float64{2})
	assert.True(t, ok)
	assert.Equal(t, millis(250), at, "the first is over by then")
	_, ok = p.at([]float64{3})
	assert.False(t, ok)
}

func TestSpendingTakesWhatIsDueFirst(t *testing.T) {
	var p pool
	p.add(slotAt(0, 100, 1, 50), slotAt(10, 110, 1, 50))
	assert.Equal(t, []float64{0, 0}, p.spend([]float64{1, 70}))
	assert.Equal(t, 1.0, p.total(0))
	assert.Equal(t, 30.0, p.total(1))
	assert.Equal(t, []float64{1, 0}, p.spend([]float64{2, 30}), "what they lack")
	assert.Empty(t, p.slots)
}

func TestSlotsLapseOnceTheyAreOver(t *testing.T) {
	var p pool
	p.add(slotAt(0, 100, 1), slotAt(10, 200, 2))
	var over []float64
	for _, now := range []int64{100, 101, 201} {
		p.lapse(millis(now), func(s slot) { over = append(over, s.left...) })
	}
	assert.Equal(t, []float64{1, 2}, over)
}

func TestDustIsNothing(t *testing.T) {
	assert.True(t, nothing([]float64{0, dust / 2, -5}))
	assert.False(t, nothing([]float64{0, 2 * dust}))
	assert.True(t, covers([]float64{1 - 1e-12}, []float64{1}))
	assert.False(t, covers([]float64{0.999}, []float64{1}))
	sum := []float64{1, 2}
	accumulate(sum, []float64{3, 4}, -1)
	assert.Equal(t, []float64{-2, -2}, sum)
}

func TestAPaceFades(t *testing.T) {
	var p pace
	assert.Zero(t, p.rate(midnight))
	now := midnight
	for range 200 { // 20 per second for 10 s
		now = now.Add(50 * time.Millisecond)
		p.add(now)
	}
	assert.InDelta(t, 20, p.rate(now), 1)
	assert.Less(t, p.rate(now.Add(10*time.Second)), 1.0)
	early := pace{}
	for i := range int64(10) {
		early.add(millis(100 * i))
	}
	assert.InDelta(t, 10, early.rate(millis(1000)), 2, "known after a second")
	burst := pace{}
	for range 5 {
		burst.add(midnight)
	}
	assert.Less(t, burst.rate(midnight), 20.0, "calls that come at once are no rate of thousands")
}
