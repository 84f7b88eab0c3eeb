package redisbudget

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
)

func TestACommandIsSentOnce(t *testing.T) {
	assert.True(t, once{redis.NewCmd(context.Background(), "eval")}.NoRetry())
}

func TestAScriptIsKnownByItsText(t *testing.T) {
	a, b := newScript("local now = 1\n"), newScript("local now = 2\n")
	assert.Len(t, a.sha, 40)
	assert.NotEqual(t, a.sha, b.sha)
	assert.True(t, strings.HasPrefix(a.text, "local now = 1\n"), "the clock comes before the laws that use it")
	assert.Equal(t, a, newScript("local now = 1\n"))
}

// The arguments are words that Lua reads as they are: no number is written with an exponent that it would cut.
func TestArgumentsAreWholeWords(t *testing.T) {
	q := &ask{policies: "p", opens: true, epoch: "e", nonce: "n", away: time.Second, process: "x", life: time.Minute, slots: 3,
		slotLife: time.Millisecond, guard: 2 * time.Millisecond, horizon: time.Hour, expires: millis(1), fair: 2.5, quiet: time.Second, hold: time.Second, age: -time.Second,
		resumes: millis(2), need: []float64{1, 1e15}, more: []float64{2, 0.25}, back: []float64{-3, 0}, memory: []float64{5, 6}, own: []string{"3 4 ", ""}, trail: []string{"7 8 "}}
	at := "17672256000"
	assert.Equal(t, []any{"p", "1", "e", "n", "0", "1000000", "x", "60000000", 3, "1000", "2000", "3600000000", at + "01000", "2.5", "1000000", "1000000", "-1000000",
		at + "02000", "1", "2", "-3", "3 4 ", "5", "7 8 ", "1000000000000000", "0.25", "0", "", "6", "-"}, q.args())
	assert.Equal(t, "0", moment(time.Time{}))
}

// Whatever is told of an ask reaches the script.
func TestNoFieldOfAnAskIsForgotten(t *testing.T) {
	ours := map[string]bool{"number": true, "tells": true, "resumed": true, "spent": true} // which Redis need not know
	words := len((&ask{need: []float64{0}, more: []float64{0}, back: []float64{0}, memory: []float64{0}}).args())
	told := 0
	for i := range reflect.TypeFor[ask]().NumField() {
		if !ours[reflect.TypeFor[ask]().Field(i).Name] {
			told++
		}
	}
	assert.Equal(t, told, words)
}
