package budget

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestASumDoesNotDrift(t *testing.T) {
	var s sum
	plain := 0.0
	for i := range 2_000_000 {
		x := 0.1
		if i >= 1_000_000 {
			x = -x
		}
		s.add(x)
		plain += x
	}
	assert.Zero(t, s.value())
	assert.NotZero(t, plain, "else the test shows nothing")
}

func TestASumKeepsWhatALargeOneWouldSwallow(t *testing.T) {
	var s sum
	s.add(1e15)
	for range 1000 {
		s.add(0.1)
	}
	s.add(-1e15)
	assert.InDelta(t, 100, s.value(), 1e-9)
}
