package mirror

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestRefusalWithSomethingLeftTeachesAReserve(t *testing.T) {
	k := newTalk(t, 100)
	for i := range 96 {
		k.call(time.Duration(i)*100*ms, 99-float64(i), 60*s-time.Duration(i)*100*ms)
	}
	k.m.law = undecided
	k.send(10 * s)
	k.refuse(10*s, 10100*ms, 4, 50*s)
	assert.Equal(t, 4.0, k.m.kept(1))
	assert.LessOrEqual(t, k.m.free(1), 0.0)
	assert.Zero(t, k.m.kept(100), "and never makes a call impossible")
}

func TestReserveIsSmallAndPasses(t *testing.T) {
	refused := func(left float64) (v reserve) {
		v.hear(&reading{received: s, refused: true, cost: 1, left: left, limit: 100}, time.Minute)
		return v
	}
	assert.Zero(t, refused(6).held, "more than a twentieth was left: it was refused for another reason")
	assert.Zero(t, refused(0).held, "nothing was left")
	v := refused(5)
	assert.Equal(t, 5.0, v.units(s+10*time.Minute))
	assert.Zero(t, v.units(s+10*time.Minute+1))
}
