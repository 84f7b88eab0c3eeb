package redisbudget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// answer is what the script says, as a client hands it on.
func answer(slots, seen []any) []any {
	return []any{"ok", "epoch", "theirs", "1700000000000001", int64(3), "1500.5", "2000000", "1700000000000000", "0", "250000", "-1", slots, seen}
}

func TestAnAnswerIsReadWholly(t *testing.T) {
	r, err := parse(answer([]any{"0", "1000", "500000", "501000"}, []any{[]any{"7", "3", "1000000", "10", []any{"500000", "5", "-1000", "2"}}}))
	require.NoError(t, err)
	assert.Equal(t, &reply{
		epoch: "epoch", declared: "theirs", server: time.UnixMicro(1700000000000001), live: 3, ttl: 1500500 * time.Nanosecond,
		hold: 2 * time.Second, changed: 1.7e15, linger: 250 * time.Millisecond, wait: -time.Microsecond,
		slots: []grant{{0, time.Millisecond}, {500 * time.Millisecond, 501 * time.Millisecond}},
		seen:  []sight{{used: 7, free: 3, next: time.Second, most: 10, spent: []spell{{500 * time.Millisecond, 5}, {-time.Millisecond, 2}}}},
	}, r)
}

// Each field in turn is missing, or of another kind.
func TestAnAnswerThatIsNotWholeIsRefused(t *testing.T) {
	whole := func() []any { return answer([]any{"0", "1000"}, []any{[]any{"7", "3", "1", "10", []any{}}}) }
	for i := range whole() {
		_, err := parse(whole()[:i])
		assert.ErrorIs(t, err, errReply, "%d fields", i)
		odd := whole()
		odd[i] = struct{}{}
		_, err = parse(odd)
		assert.ErrorIs(t, err, errReply, "field %d", i)
	}
	for _, list := range [][]any{{"0"}, {"0", "x"}, {int64(1), "2"}} {
		_, err := parse(answer(list, nil))
		assert.ErrorIs(t, err, errReply, "%v", list)
	}
	for _, seen := range []any{"7", []any{"7", "3", "1"}, []any{"7", "3", "1", "10"}, []any{"7", "3", "1", "10", []any{"1"}}, []any{"7", "3", "1", "10", []any{}, "1"}} {
		_, err := parse(answer([]any{}, []any{seen}))
		assert.ErrorIs(t, err, errReply, "%v", seen)
	}
}

func TestAnotherShapeIsAnErrorOfItsOwn(t *testing.T) {
	_, err := parse([]any{"shape", "theirs"})
	var wrong *ShapeError
	require.ErrorAs(t, err, &wrong)
	assert.Equal(t, "theirs", wrong.Theirs)
	_, err = parse([]any{"shape"})
	assert.Error(t, err)
}

// The first word that is not as it should be spoils the rest: what follows is never taken for something else.
func TestWordsStayBad(t *testing.T) {
	w := &words{left: []any{"1", "2", "3"}}
	assert.Equal(t, 1.0, w.number())
	assert.Zero(t, w.whole())
	assert.True(t, w.bad)
	assert.Equal(t, "3", w.text())
	assert.True(t, w.bad)
	assert.Nil(t, w.next())
	assert.Equal(t, 1500*time.Nanosecond, (&words{left: []any{"1.5"}}).span())
	assert.Equal(t, time.Duration(9.2e18), (&words{left: []any{"1e30"}}).span())
	w = &words{left: []any{"no list"}}
	assert.Empty(t, w.list().left)
	assert.True(t, w.bad)
}
