package redisbudget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-18ca0a92/throttle/budget"
)

func TestAViewOfNothing(t *testing.T) {
	v := view{most: []float64{10}}
	assert.Equal(t, midnight, v.server(midnight), "nobody knows better")
	assert.False(t, v.remembers(midnight))
	assert.Equal(t, budget.State{Limit: 10, Window: time.Second, Available: 10}, v.state(0, budget.PerSecond(10), midnight))
}

func TestAViewKeepsTheServersTime(t *testing.T) {
	v := view{most: []float64{0}}
	v.update(&reply{epoch: "e", server: midnight, ttl: time.Minute, live: 4, seen: []sight{{used: 2, free: 8, next: time.Second, most: 10}}}, millis(5000), 0)
	assert.Equal(t, millis(1000), v.server(millis(6000)), "whatever our own clock says")
	assert.Equal(t, millis(-1000), v.server(millis(4000)))
	assert.True(t, v.remembers(millis(5000+59_999)))
	assert.False(t, v.remembers(millis(5000+60_000)), "it may have expired")
	assert.Equal(t, []float64{10}, v.most)
	p := budget.PerSecond(10)
	assert.Equal(t, budget.State{Limit: 10, Window: time.Second, Used: 2, Available: 8, Next: millis(6000)}, v.state(0, p, millis(5000)))
	assert.Equal(t, millis(7000), v.state(0, p, millis(7000)).Next, "what was ahead is there by now")
}

// One slow answer counts for a while, so that slots are asked for in time.
func TestAViewForgetsASlowTripSlowly(t *testing.T) {
	var v view
	v.update(&reply{}, midnight, time.Second)
	for range 10 {
		v.update(&reply{}, midnight, time.Millisecond)
	}
	assert.InDelta(t, 0.35, v.trip.Seconds(), 0.01)
	for range 100 {
		v.update(&reply{}, midnight, time.Millisecond)
	}
	assert.Equal(t, time.Millisecond, v.trip)
}

// One slow answer is not usual; many are.
func TestAViewLearnsWhatIsUsual(t *testing.T) {
	var v view
	for _, want := range []int{5, 10, 20, 40, 60, 60} {
		v.update(&reply{}, midnight, 60*time.Millisecond)
		assert.Equal(t, time.Duration(want)*time.Millisecond, v.usual)
	}
	v.update(&reply{}, midnight, time.Second)
	assert.Equal(t, 120*time.Millisecond, v.usual)
	v.update(&reply{}, midnight, 60*time.Millisecond)
	assert.Equal(t, 108*time.Millisecond, v.usual)
}

func TestAViewKnowsWhetherSlotsAreScarce(t *testing.T) {
	var v view
	for _, test := range []struct {
		reply reply
		want  bool
	}{
		{reply{slots: []grant{{from: 0}, {from: 0}}}, false},
		{reply{slots: []grant{{from: 0}, {from: 1}}}, true},
		{reply{}, true}, // nothing was asked for
		{reply{slots: []grant{{from: 0}}}, false},
		{reply{wait: time.Minute}, true},
	} {
		v.update(&test.reply, midnight, 0)
		assert.Equal(t, test.want, v.scarce, "%+v", test.reply)
	}
}
