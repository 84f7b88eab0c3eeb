package mirror

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFirstCallGoesAlone(t *testing.T) {
	k := newTalk(t, 100)
	at, lone := k.at(0, 1, 16)
	assert.Zero(t, at)
	assert.True(t, lone)
}

// After the canary every answer lets another tenth of what is left into the air, until eight have come.
func TestFirstContactOpensByTenths(t *testing.T) {
	k := newTalk(t, 100)
	k.call(0, 99, 60*s)
	inAir := func(now moment) (n int) {
		for ; n < 200; n++ {
			if at, lone := k.at(now, 1, 100); at > now || lone {
				return n
			}
			k.send(now)
		}
		return n
	}
	assert.Equal(t, 9, inAir(100*ms), "a tenth of 99")
	k.answer(100*ms, 200*ms, 98, 60*s)
	assert.Equal(t, 11, inAir(200*ms), "two tenths of 98 in all, eight are still there")
	for i := range 6 {
		k.answer(100*ms, 200*ms, 97-float64(i), 60*s)
	}
	assert.Equal(t, 79, inAir(200*ms), "acquainted: all that is left")
}

func TestFirstContactNeverBlocksAnEmptyAir(t *testing.T) {
	c := contact{answers: 1, left: 2}
	assert.False(t, c.full(0, 1))
	assert.True(t, c.full(1, 1))
}

func TestFirstContactTrustsTheCallThatLeftLast(t *testing.T) {
	var c contact
	c.hear(&reading{sent: 2 * s, left: 10})
	c.hear(&reading{sent: s, left: 90})
	assert.Equal(t, 10.0, c.left)
}
