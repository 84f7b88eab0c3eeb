package bank

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestAWindowIsAskedAfterAsSoonAsARefusalIsCheap(t *testing.T) {
	for _, c := range []struct {
		limit        float64
		asked, again int
	}{
		{limit: 600, again: 4},
		{limit: 600, asked: 4, again: 5},
		{limit: 100, asked: 4, again: 7},
		{limit: 10, asked: 4, again: 8},
		{limit: 10, asked: 8, again: 16},
		{limit: 10, asked: 40, again: 56},
	} {
		w := newClockWindow(time.Minute, 0)
		w.admit(c.limit)
		w.refuse(c.limit + 1)
		l := &belief{law: w, asked: c.asked}
		assert.Equal(t, c.again, l.nextAsk(), "limit %v, asked when right %d times", c.limit, c.asked)
	}
}
